"""A switch of generations that is cut at any of its steps: the files of a node are all old or all new."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.generations import (
    CURRENT,
    FAILED,
    PREVIOUS,
    STAGED,
    Generations,
    differing,
)

OLD = {"server.properties": "a=1\n", "jvm.options": "-Xmx1g\n"}
NEW = {"server.properties": "a=2\n", "jvm.options": "-Xmx2g\n", "metrics.yml": "rules: []\n"}
#: All that changes what is on disk, each once.
STEPS = [(os, "replace"), (os, "rename"), (os, "symlink"), (os, "remove"), (os, "makedirs"), (shutil, "rmtree")]


class Cut(BaseException):
    """A power cut."""


def cut_after(monkeypatch: pytest.MonkeyPatch, steps: int, work: Callable[[], object]) -> bool:
    """Do some work until so many steps are done; whether it was cut."""
    left = [steps]

    def counted(function: Callable[..., object]) -> Callable[..., object]:
        def step(*args: object, **options: object) -> object:
            if left[0] == 0:
                raise Cut
            left[0] -= 1
            return function(*args, **options)

        return step

    with monkeypatch.context() as patched:
        for module, name in STEPS:
            patched.setattr(module, name, counted(getattr(module, name)))
        try:
            work()
        except Cut:
            return True
    return False


def filled(texts: dict[str, str]) -> Callable[[str], object]:
    return lambda at: [Path(at, name).write_text(text) for name, text in texts.items()]


def used(directory: Path) -> dict[str, str]:
    return {one.name: one.read_text() for one in directory.iterdir() if one.is_file()}


def running(directory: Path) -> Generations:
    found = Generations(str(directory))
    found.stage("1", filled(OLD))
    found.switch()
    return found


def change(directory: Path) -> None:
    found = Generations(str(directory))
    if found.texts(CURRENT) != NEW:
        found.stage("2", filled(NEW))
        found.switch()
    found.prove()


def there_and_back(directory: Path) -> None:
    found = Generations(str(directory))
    found.stage("2", filled(NEW))
    found.switch()
    found.go_back("a=2 is out of range")


def take_over(directory: Path) -> None:
    found = Generations(str(directory))
    found.adopt(OLD)
    found.stage("2", filled(NEW))


@pytest.mark.parametrize("work", [change, there_and_back])
def test_a_cut_at_any_step_leaves_one_whole_set_and_the_next_run_ends_it(
    work: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for steps in range(200):
        directory = tmp_path / str(steps)
        directory.mkdir()
        running(directory)
        was_cut = cut_after(monkeypatch, steps, lambda at=directory: work(at))
        assert used(directory) in (OLD, NEW), f"after {steps} steps"
        change(directory)
        assert used(directory) == NEW, f"after {steps} steps and a whole run"
        assert Generations(str(directory)).name(PREVIOUS) is None
        if not was_cut:
            break
    assert not was_cut
    assert steps > 8


def test_the_way_back_survives_a_cut_at_any_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever goes on behind a cut can still come to the old files, unless the new ones were proven."""
    for steps in range(200):
        directory = tmp_path / str(steps)
        directory.mkdir()
        running(directory)
        was_cut = cut_after(monkeypatch, steps, lambda at=directory: there_and_back(at))
        found = Generations(str(directory))
        if used(directory) == NEW:
            assert found.go_back("again")
        assert used(directory) == OLD, f"after {steps} steps"
        if not was_cut:
            break
    assert not was_cut
    assert found.why_failed() == "a=2 is out of range"
    assert found.texts(FAILED) == NEW


def test_an_installation_without_generations_keeps_its_content_at_each_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for steps in range(200):
        directory = tmp_path / str(steps)
        directory.mkdir()
        filled(OLD)(str(directory))
        was_cut = cut_after(monkeypatch, steps, lambda at=directory: take_over(at))
        assert {name: text for name, text in used(directory).items() if name in OLD} == OLD, f"after {steps} steps"
        take_over(directory)
        assert used(directory) == OLD
        assert Generations(str(directory)).texts(STAGED) == NEW
        if not was_cut:
            break
    assert not was_cut


def test_only_generations_with_a_link_are_kept(tmp_path: Path) -> None:
    found = running(tmp_path)
    found.prove()
    for number in range(5):
        found.stage("same second", filled({"server.properties": f"a={number}\n"}))
        found.switch()
    assert len(list((tmp_path / "generations").iterdir())) == 2
    assert found.texts(PREVIOUS) == OLD, "the one that was proven, not the one before"
    found.go_back("no")
    assert found.names()[PREVIOUS] is None
    assert used(tmp_path) == OLD


def test_the_difference_names_changed_new_and_removed_files() -> None:
    assert differing({}, OLD) == ["jvm.options", "server.properties"]
    assert differing(NEW, OLD) == ["jvm.options", "metrics.yml", "server.properties"]
    assert differing(OLD, OLD) == []
