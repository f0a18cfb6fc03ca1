# SPDX-License-Identifier: GPL-3.0-or-later
"""The public playbooks: what the comment at the head of each says of it, and what its plays may come to."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[2]
ROLES = ROOT / "roles"
PUBLIC = {path.stem: path for path in sorted((ROOT / "playbooks").glob("[!_]*.yml"))}
#: Playbooks that change something of a cluster without its lock, and why.
WITHOUT_LOCK = {"validate": "writes records into the topic of its proof alone, for as long as that takes"}
LOCK, FREE = "roles/_common/tasks/lock/take.yml", "roles/_common/tasks/lock/release.yml"
FILE = {"include_tasks", "import_tasks"}
ROLE = {"include_role", "import_role"}


class Head(NamedTuple):
    """What the comment at the head of a playbook says.

    pages are those of "See docs/...", without their folder; example is what its first command must be given with -e;
    no_job says why AWX has no template for it, and is empty where one must be.
    """

    summary: str
    pages: tuple[str, ...]
    example: Mapping[str, str]
    no_job: str


@cache
def head(name: str) -> Head:
    """Return what the head of a playbook says."""
    comment = PUBLIC[name].read_text().partition("\n\n")[0].removeprefix("---\n")
    lines = [line.removeprefix("#") for line in comment.splitlines()]
    text = " ".join(" ".join(line for line in lines if not line.startswith("  ")).split())
    command = re.search(r"ansible-playbook streamops\.kafka\.\w+ .*(\n {4}.*)*", "\n".join(lines))
    return Head(
        summary=re.split(r"[.:] |[.:]$", text)[0],
        pages=tuple(re.findall(r"docs/([\w-]+\.md)", "".join(re.findall(r"See (docs/.*?\.md)\.(?: |$)", text)))),
        example=_given(command[0]) if command else {},
        no_job="".join(re.findall(r"No job of AWX: (.*?)\.", text)),
    )


def _given(command: str) -> dict[str, str]:
    """What -e gives a command as name=value, outside of brackets."""
    words = shlex.split(re.sub(r"\[.*?\](?=\s|$)", "", command, flags=re.DOTALL))
    pairs = [word.split("=", 1) for before, word in pairwise(words) if before == "-e"]
    return {pair[0]: pair[1] for pair in pairs if len(pair) > 1}


def takes_lock(name: str) -> bool:
    """Return whether a playbook takes the lock of a cluster."""
    return any(LOCK in of_play(play, given) for play, given in plays(PUBLIC[name]))


def first(name: str) -> tuple[list[str], Mapping[str, Any]]:
    """Return what the first play of a playbook may come to, and the variables that it is given."""
    play, given = next(plays(PUBLIC[name]))
    return of_play(play, given), given


def follows(name: str) -> bool | str:
    """Return whether a playbook shows a plan with plan_only; a template where that depends on what it is given."""
    found: bool | str = first(name)[1].get("_common_plan_follows", False)
    return found


def example(name: str) -> dict[str, str]:
    """Return what the first command of a playbook's head must be given, with a node of inventories/local in it."""
    return {key: re.sub(r"^(broker|controller)\d+$", "kafka3", value) for key, value in head(name).example.items()}


def only_looks_sometimes(name: str) -> bool:
    """Return whether what a playbook is given says if it changes anything, and so if it takes the lock.

    That is a variable of its lock, or a template that says which playbook it imports, one with a lock among them.
    """
    imports = [one.get("ansible.builtin.import_playbook", "") for one in read(PUBLIC[name])]
    chooses = any("{{" in one for one in imports) and "_lock.yml" not in imports
    return chooses or any("_common_only_looks" in given for _play, given in plays(PUBLIC[name]))


@cache
def read(path: Path) -> list[Any]:
    """The plays or tasks of a file."""
    return yaml.safe_load(path.read_text()) or []


def plays(
    path: Path, given: Mapping[str, Any] = MappingProxyType({})
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each play of a playbook in its order, those of its imports too, with the variables that these are given.

    Left out are imports of playbooks that need no lock: site.yml gives it back before its proof.
    """
    for one in read(path):
        variables = {**given, **(one.get("vars") or {})}
        imported = one.get("ansible.builtin.import_playbook") or one.get("import_playbook")
        if imported and Path(imported).stem in WITHOUT_LOCK:
            continue
        if imported:
            for file in either(imported):
                yield from plays(path.parent / file, variables)
        else:
            yield one, variables


def either(imported: str) -> list[str]:
    """The playbooks that an import may mean: all that its template names, where it is one."""
    return re.findall(r"'([\w.]+\.yml)'", imported) if "{{" in imported else [imported]


def steps(entries: list[Any], role: Path | None, given: Mapping[str, Any], seen: frozenset[Path]) -> Iterator[str]:
    """The modules that these tasks may come to, and the files that they include, in their order."""
    for one in entries:
        variables = {**given, **(one.get("vars") or {})}
        # A role that is entered in a play of its own looks for a lock and takes none.
        if str(one.get("when")) == "_common_lock_for_run | default(false)" and "_common_lock_for_run" not in variables:
            continue
        for part in ("block", "rescue", "always"):
            yield from steps(one.get(part) or [], role, variables, seen)
        for name, asked in one.items():
            short = name.rpartition(".")[2]
            # The last drill of a failover is only read.
            if name.startswith("streamops.kafka.") and not (short == "mirror_drill" and asked.get("state") == "last"):
                yield short
            for into, file in included(short, asked, role, variables):
                yield str(file.relative_to(ROOT))
                if file not in seen:
                    yield from steps(read(file), into, variables, seen | {file})


def included(action: str, asked: Any, role: Path | None, given: Mapping[str, Any]) -> list[tuple[Path | None, Path]]:
    """The files of a task that includes some, each with the role that it is of: all that a template may name."""
    if action in ROLE:
        # A role that the caller gives is known from its variables, and none where it gives none.
        filled = {key: filled_in(asked.get(key, "main"), given) for key in ("name", "tasks_from")}
        name = filled["name"].rpartition(".")[2]
        return [(ROLES / name, one) for one in named(ROLES / name / "tasks", filled["tasks_from"]) if name]
    if action in FILE:
        file = asked if isinstance(asked, str) else asked["file"]
        return [(role, one) for one in named(role / "tasks" if role else ROOT / "playbooks", file)]
    return []


def filled_in(text: str, given: Mapping[str, Any]) -> str:
    """A name with `{{ variable.key }}` filled in; other templates are left as they stand."""
    asked = re.fullmatch(r"\{\{ (_\w+)\.(\w+) \}\}", text)
    return str(given.get(asked[1], {}).get(asked[2], "")) if asked else text


def named(folder: Path, name: str) -> list[Path]:
    """The files that a name may mean, any where a template stands in it."""
    return sorted(folder.glob(re.sub(r"\{\{.*?\}\}", "*", name.removesuffix(".yml")) + ".yml"))


def of_play(play: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """What a play may come to, as C(steps) names it."""
    roles = [{"ansible.builtin.import_role": {"name": one["role"]}} for one in play.get("roles") or []]
    entries = [*roles, *(play.get("pre_tasks") or []), *(play.get("tasks") or [])]
    return list(steps(entries, None, {**given, **(play.get("vars") or {})}, frozenset()))
