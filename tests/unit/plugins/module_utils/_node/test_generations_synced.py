"""Generations survive a loss of power: what a link leads to is on the disk before it, and so is each change in turn."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.generations import CURRENT, LINKS, Generations

FIRST = {"server.properties": "a=1\n", "jvm.options": "-Xmx1g\n"}
SECOND = {"server.properties": "a=2\n", "metrics.yml": "rules: []\n"}
#: A change of a directory, or the sync of a file or a directory: what was done, and with which path.
Event = tuple[str, str]


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """What the real functions of os are asked for, in order."""
    events: list[Event] = []

    def noted(name: str, original: Callable[..., Any], path_of: Callable[..., str]) -> None:
        def call(*arguments: Any) -> Any:
            events.append((name, path_of(*arguments)))
            return original(*arguments)

        monkeypatch.setattr(os, name, call)

    noted("fsync", os.fsync, lambda descriptor: os.readlink(f"/proc/self/fd/{descriptor}"))
    noted("replace", os.replace, lambda _source, target: str(target))
    noted("remove", os.remove, str)
    noted("rename", os.rename, lambda source, _target: str(source))
    return events


def fill(texts: dict[str, str]) -> Callable[[str], object]:
    return lambda at: [Path(at, name).write_text(text) for name, text in texts.items()]


def stage_and_switch(found: Generations) -> None:
    found.stage("1", fill(FIRST))
    found.switch()
    found.prove()


def there_and_back(found: Generations) -> None:
    stage_and_switch(found)
    found.stage("2", fill(SECOND))
    found.switch()
    found.go_back("a=2 is out of range")
    found.settle_failed()


def take_over(found: Generations) -> None:
    fill(FIRST)(found.paths([""])[0])
    found.adopt(FIRST)


@pytest.mark.parametrize("work", [stage_and_switch, there_and_back, take_over])
def test_each_change_of_a_name_is_synced_before_the_next_one(
    work: Callable[[Generations], None], tmp_path: Path, done: list[Event]
) -> None:
    work(Generations(str(tmp_path)))
    # Links of files that no generation has any more lead nowhere, and may come back.
    of_files = {("remove", path) for what, path in done if what == "remove" and os.path.basename(path) not in LINKS}
    changes = [number for number, one in enumerate(done) if one[0] != "fsync" and one not in of_files]
    assert changes
    for number, after in zip(changes, [*changes[1:], len(done)], strict=True):
        what, path = done[number]
        # A copy beside its place has no name in a generation yet: the generation is synced as a whole.
        wanted = path if what == "replace" and f"{os.sep}generations{os.sep}" in path else os.path.dirname(path)
        assert ("fsync", wanted) in done[number:after], f"{what} {path} may be lost with the power"


@pytest.mark.parametrize("work", [stage_and_switch, there_and_back, take_over])
def test_a_generation_is_on_the_disk_before_it_has_its_name(
    work: Callable[[Generations], None], tmp_path: Path, done: list[Event]
) -> None:
    found = Generations(str(tmp_path))
    work(found)
    renamed = [number for number, (what, _path) in enumerate(done) if what == "rename"]
    assert renamed
    for number in renamed:
        new = done[number][1]
        synced = {path for what, path in done[:number] if what == "fsync"}
        files = os.listdir(f"{tmp_path}/generations/{os.path.basename(new).removesuffix('.new')}")
        there = [one for one in files if not one.startswith(("why-it-failed", "settled"))]
        assert {new, *(f"{new}/{one}" for one in there)} <= synced
    assert found.name(CURRENT)


def test_why_a_generation_failed_is_on_the_disk_too(tmp_path: Path, done: list[Event]) -> None:
    there_and_back(Generations(str(tmp_path)))
    failed = f"{tmp_path}/generations/2"
    assert {f"{failed}/why-it-failed.txt", f"{failed}/settled"} <= {path for what, path in done if what == "fsync"}
