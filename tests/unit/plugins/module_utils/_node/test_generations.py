"""Generations whose steps are cut anywhere: the files of a node are one whole set, and its way back has been whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.generations import (
    CURRENT,
    EARLIER,
    FAILED,
    PROVEN,
    STAGED,
    Generations,
    differing,
)
from tests.support.forms import short

OLD = {"server.properties": "a=1\n", "jvm.options": "-Xmx1g\n"}
NEW = {"server.properties": "a=2\n", "jvm.options": "-Xmx2g\n", "metrics.yml": "rules: []\n"}
OTHER = {"server.properties": "a=3\n", "start": "exec java\n"}
#: All that changes what is on disk, each once. A cut at what syncs leaves what a cut at the step behind it leaves.
STEPS = [
    *((os, name) for name in ("replace", "rename", "symlink", "remove", "makedirs", "chmod")),
    (shutil, "rmtree"),
    (shutil, "copy2"),
]
ORIGINAL = {name: getattr(module, name) for module, name in STEPS}


@pytest.fixture(autouse=True)
def _without_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of nodes are made here, and none of them is to survive a loss of power."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


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
    found.prove()
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
        assert Generations(str(directory)).way_back() is None
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
        assert found.texts(PROVEN) == OLD, f"after {steps} steps"
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
    assert found.texts(PROVEN) == OLD, "the one that was proven, not the one before"
    found.go_back("no")
    assert found.way_back() is None
    assert used(tmp_path) == OLD


@pytest.mark.parametrize("before", [None, "1"])
def test_an_installation_from_before_the_link_keeps_its_way_back(
    before: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it ran with counts as proven, or what a run that was cut has left to go back to."""
    for steps in range(200):
        directory = tmp_path / str(steps)
        directory.mkdir()
        found = running(directory)
        (directory / "proven").unlink()
        if before:
            found.stage("2", filled(NEW))
            (directory / "current").unlink()
            (directory / "staged").rename(directory / "current")
            (directory / "previous").symlink_to(f"generations/{before}")
        assert found.texts(PROVEN) == OLD
        assert found.is_proven() == (before is None)
        was_cut = cut_after(monkeypatch, steps, lambda at=directory: take_up(at, OTHER))
        assert found.texts(PROVEN) == OLD, f"after {steps} steps"
        take_up(directory, OTHER)
        assert found.go_back("a=3 is out of range")
        assert used(directory) == OLD
        assert not (directory / "previous").is_symlink()
        if not was_cut:
            break
    assert not was_cut


def test_a_node_that_was_never_whole_has_no_way_back(tmp_path: Path) -> None:
    found = Generations(str(tmp_path))
    take_up(tmp_path, OLD)
    assert (found.name(PROVEN), found.is_proven(), found.way_back()) == (None, False, None)
    take_up(tmp_path, NEW)
    assert not found.go_back("a=2 is out of range")
    assert used(tmp_path) == NEW
    assert found.prove()
    take_up(tmp_path, OTHER)
    assert found.go_back("a=3 is out of range")
    assert used(tmp_path) == NEW


def test_files_that_were_edited_by_hand_prove_nothing_unless_that_is_undone(tmp_path: Path) -> None:
    for text in (OLD, NEW):
        directory = tmp_path / str(len(text))
        directory.mkdir()
        found = running(directory)
        (directory / "jvm.options").write_text("-Xmx9g\n")
        found.stage("2", filled(text))
        found.switch(keep_edited=False)
        take_up(directory, OTHER)
        assert found.texts(PROVEN) == (OLD if text == OLD else None)


def take_up(directory: Path, texts: dict[str, str]) -> None:
    found = Generations(str(directory))
    found.stage("2", filled(texts))
    found.switch()


@dataclass
class Node:
    """A node that runs come to, one after the other; what it has been whole with, as far as a run has noted that."""

    directory: Path
    whole: list[dict[str, str]]
    #: What may have been proven before that; None where nothing was.
    earlier: list[dict[str, str] | None]

    @property
    def found(self) -> Generations:
        return Generations(str(self.directory))

    def check(self) -> None:
        """Verify what must hold at each moment."""
        assert used(self.directory) in (OLD, NEW, OTHER)
        assert self.found.texts(PROVEN) in self.whole
        self.whole = [self.found.texts(PROVEN) or {}]
        # A cut in the middle of a proof leaves both links at the same one, which is no way back.
        assert self.found.texts(EARLIER) in [*self.earlier, *self.whole]
        self.earlier = [self.found.texts(EARLIER)]


def roll(node: Node, texts: dict[str, str]) -> None:
    """Cut anywhere it is also a run that was killed while the node started, and files that needed no restart."""
    take_up(node.directory, texts)
    # Cut in the middle of the note, either may be noted.
    node.whole.append(used(node.directory))
    node.earlier.append(node.whole[0])
    node.found.prove()
    del node.whole[0], node.earlier[0]


def roll_in_vain(node: Node, texts: dict[str, str]) -> None:
    take_up(node.directory, texts)
    node.found.go_back("it is not whole")


def change_of_mind(node: Node, texts: dict[str, str]) -> None:
    node.found.stage("2", filled(texts))
    node.found.unstage()


def lost_its_leader(node: Node, texts: dict[str, str]) -> None:
    """A node that was whole, and whose proof is taken back; cut anywhere, what it goes back to was whole once."""
    roll(node, texts)
    node.whole.extend(one for one in node.earlier if one is not None)
    node.earlier.append(None)
    node.found.take_proof_back()
    node.found.go_back("the quorum has no stable leader")
    del node.whole[0], node.earlier[0]


RUNS = (roll, roll_in_vain, change_of_mind, lost_its_leader)


def contents(directory: Path) -> list[tuple[str, str]]:
    """All that is in a directory: links with what they lead to, files with their text."""
    found = [(str(one.relative_to(directory)), one) for one in directory.rglob("*")]
    links = [(name, str(one.readlink())) for name, one in found if one.is_symlink()]
    return links + [(name, one.read_text() if one.is_file() else "") for name, one in found if not one.is_symlink()]


def cuts(
    monkeypatch: pytest.MonkeyPatch, node: Node, run: Callable[[Node], None], place: Path, known: set[str]
) -> list[Node]:
    """Return the node as a cut before each step of a run leaves it, and as the whole run does, without known states."""
    left: list[Node] = []

    def leave() -> None:
        """Keep the node as it is now, without counting the steps of that."""
        state = f"{node.whole} {node.earlier} {sorted(contents(node.directory))}"
        if state in known:
            return
        known.add(state)
        with monkeypatch.context() as patched:
            for module, name in STEPS:
                patched.setattr(module, name, ORIGINAL[name])
            left.append(Node(place / str(len(left)), list(node.whole), list(node.earlier)))
            shutil.copytree(node.directory, left[-1].directory, symlinks=True)

    def seen(step: Callable[..., object]) -> Callable[..., object]:
        def looked_at(*args: object, **options: object) -> object:
            leave()
            return step(*args, **options)

        return looked_at

    with monkeypatch.context() as patched:
        for module, name in STEPS:
            patched.setattr(module, name, seen(getattr(module, name)))
        run(node)
    leave()
    return left


@pytest.mark.parametrize("second", RUNS)
@pytest.mark.parametrize("first", short(RUNS, roll, roll_in_vain, change_of_mind))
def test_the_way_back_leads_to_what_was_whole_last_whatever_is_cut_and_wanted_then(
    first: Any, second: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run is cut anywhere, another one with other files too, and then files are tried that the node does not take."""
    start = Node(tmp_path / "node", [OLD], [None])
    start.directory.mkdir()
    running(start.directory)
    known: set[str] = set()
    for one in cuts(monkeypatch, start, lambda node: first(node, NEW), tmp_path / "first", set()):
        one.check()
        for node in cuts(monkeypatch, one, lambda node: second(node, OTHER), tmp_path / "second", known):
            node.check()
            take_up(node.directory, {"server.properties": "a=out of range\n"})
            assert node.found.go_back("a is out of range")
            assert used(node.directory) == node.whole[0]
        shutil.rmtree(tmp_path / "second", ignore_errors=True)
    assert len(known) > 20


def test_what_was_proven_before_is_gone_back_to_only_when_the_proof_is_taken_back(tmp_path: Path) -> None:
    found = running(tmp_path)
    assert (found.name(EARLIER), found.take_proof_back()) == (None, False)
    for texts in (NEW, OTHER):
        take_up(tmp_path, texts)
        assert found.doubted() == PROVEN
        assert not found.take_proof_back(), "what is not proven has a way back as it is"
        found.prove()
    assert (found.texts(EARLIER), found.way_back(), found.doubted()) == (NEW, None, EARLIER)
    assert len(list((tmp_path / "generations").iterdir())) == 2, "the one before is pruned"
    assert found.take_proof_back()
    assert not found.take_proof_back()
    assert found.go_back("the quorum has no stable leader")
    assert (used(tmp_path), found.texts(FAILED), found.name(EARLIER)) == (NEW, OTHER, None)
    assert found.is_proven()


def test_a_link_tells_since_when_it_leads_there(tmp_path: Path) -> None:
    found = running(tmp_path)
    assert found.led_since(EARLIER) is None
    take_up(tmp_path, NEW)
    os.utime(tmp_path / CURRENT, (100, 100), follow_symlinks=False)
    assert found.led_since(CURRENT) == 100
    found.prove()
    assert (found.led_since(CURRENT), (found.led_since(PROVEN) or 0) > 100) == (100, True)
    os.utime(tmp_path / PROVEN, (120, 120), follow_symlinks=False)
    assert not found.prove()
    assert found.led_since(PROVEN) == 120, "the first proof counts"


def test_the_difference_names_changed_new_and_removed_files() -> None:
    assert differing({}, OLD) == ["jvm.options", "server.properties"]
    assert differing(NEW, OLD) == ["jvm.options", "metrics.yml", "server.properties"]
    assert differing(OLD, OLD) == []
