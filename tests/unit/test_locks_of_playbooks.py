"""Every playbook that can change a cluster holds its lock from before its first change, and the page names them all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml
from jinja2.nativetypes import NativeEnvironment

ROOT = Path(__file__).resolve().parents[2]
ROLES = ROOT / "roles"
PLAYBOOKS = {path.stem: path for path in sorted((ROOT / "playbooks").glob("[!_]*.yml"))}
#: Those that take none, and why.
WITHOUT = {
    "awx": "changes objects of AWX",
    "dump": "looks",
    "look_after_failure": "looks",
    "monitoring": "changes hosts of Prometheus",
    "monitoring_files": "writes files on the control node",
    "page": "changes hosts of the page",
    "status": "looks",
    "validate": "writes records into the topic of its proof alone, for as long as that takes",
}
#: What changes a cluster: modules, and files that start and stop a node.
CHANGES = {
    "acls",
    "broker_configs",
    "broker_registration",
    "features",
    "group_offsets",
    "leader_election",
    "node_generation",
    "quorum_voter",
    "quotas",
    "reassignment",
    "storage_format",
    "topic_records",
    "topics",
    "users",
    "zookeeper_credentials",
    "roles/_common/tasks/start.yml",
    "roles/_common/tasks/stop.yml",
}
LOCK, FREE = "roles/_common/tasks/lock/take.yml", "roles/_common/tasks/lock/release.yml"
FILE = {"include_tasks", "import_tasks"}
ROLE = {"include_role", "import_role"}


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
        if imported and Path(imported).stem in WITHOUT:
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
            if name.startswith("streamops.kafka."):
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


@pytest.fixture(scope="module", params=list(PLAYBOOKS))
def playbook(request: pytest.FixtureRequest) -> tuple[str, list[list[str]]]:
    """The name of a playbook, and what each of its plays may come to."""
    return request.param, [of_play(play, given) for play, given in plays(PLAYBOOKS[request.param])]


def test_a_playbook_that_can_change_a_cluster_takes_the_lock_before_and_gives_it_back(
    playbook: tuple[str, list[list[str]]],
) -> None:
    name, made = playbook
    steps_of_all = [step for play in made for step in play]
    changes = [number for number, step in enumerate(steps_of_all) if step in CHANGES]
    if name in WITHOUT:
        assert LOCK not in steps_of_all
        assert not changes or name == "validate", [steps_of_all[number] for number in changes]
        return
    assert LOCK in steps_of_all, f"{name}.yml changes a cluster beside another run"
    taken = steps_of_all.index(LOCK)
    assert all(number > taken for number in changes), [steps_of_all[number] for number in changes if number < taken]
    given_back = len(steps_of_all) - steps_of_all[::-1].index(FREE)
    assert given_back > max([*changes, taken])
    locked = next(number for number, play in enumerate(made) if LOCK in play)
    for play in made[locked:]:
        if set(play) & CHANGES:
            assert FREE in play, "a play that fails keeps the lock"


@pytest.mark.parametrize(
    ("given", "looks"),
    [
        ({}, True),
        ({"kafka_consumer_group_to": ""}, True),
        ({"kafka_consumer_group_to": "stay"}, True),
        ({"kafka_consumer_group_to": "earliest"}, False),
    ],
)
def test_a_look_at_groups_takes_no_lock(given: dict[str, str], looks: bool) -> None:
    taken = next(known for _play, known in plays(PLAYBOOKS["groups"]) if "_common_only_looks" in known)
    assert NativeEnvironment().from_string(taken["_common_only_looks"]).render(given) is looks


def test_the_page_names_the_playbooks_that_take_the_lock() -> None:
    text = (ROOT / "docs" / "restarts.md").read_text().partition("## The lock of a cluster")[2].partition("\n## ")[0]
    listed = re.search(r"Every playbook that changes one \((.*?)\)", text, re.DOTALL)
    assert listed
    assert sorted(re.findall(r"`(\w+)`", listed[1])) == sorted(set(PLAYBOOKS) - set(WITHOUT))
