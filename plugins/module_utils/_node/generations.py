# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The generations of a node: whole sets of the files that its process reads when it starts, side by side.

A configuration directory holds C(generations/NAME/), each a set, and links to those that matter: C(current) is the one
in use. Every file keeps the path that it always had, as a link through C(current), so one rename changes all files of
a node together, and nothing that names a file has to know of generations.

C(proven) is the one with which the node has been whole last, to which it goes back. It moves by one rename
too, once the node has been whole with a newer one; until then it is kept, whatever is switched to meanwhile.

C(earlier) is the one that was proven before that. A quorum that loses its leader only after each of its controllers was
whole is the one case in which a proof is taken back.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .._core.compared import same_file

DIRECTORY = "generations"
#: In use; waiting for the node's turn; the last with which the node has been whole; tried, and given up.
CURRENT, STAGED, PROVEN, FAILED = "current", "staged", "proven", "failed"
#: Proven before that which is proven; no way back leads to it unless that proof is taken back.
EARLIER = "earlier"
LINKS = (CURRENT, STAGED, PROVEN, FAILED, EARLIER)
#: What C(proven) leads to until a node has been whole for the first time: nothing has this name.
NONE_YET = "none-yet"
#: In installations from before that link: what the current generation was switched from, until the node was whole.
BEFORE = "previous"
#: In a generation that was given up: why, for people.
WHY = "why-it-failed.txt"
#: Beside it, once a run wants other files: the node is fine, and the generation is only kept to be refused.
SETTLED = "settled"
#: In each that was written here: the digests of its files, which tell what was edited by hand since.
MANIFEST = "MANIFEST.sha256"
OWN = {WHY, SETTLED, MANIFEST}


class Generations:
    """The generations below one configuration directory. Whatever it changes, it changes by a rename, and synced."""

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def name(self, link: str) -> str | None:
        """Return the name of the generation that a link leads to; None without one."""
        if link == PROVEN and not os.path.lexists(self._path(PROVEN)):
            # An installation from before this link must not lose its way back.
            return self.name(BEFORE) or self.name(CURRENT)
        path = self._path(link)
        if not os.path.islink(path) or not os.path.isdir(path):
            return None
        directory, name = os.path.split(os.readlink(path))
        # One that leads to another place was made by hand, and what is there is nobody's generation.
        return name if directory == DIRECTORY else None

    def names(self) -> dict[str, str | None]:
        """Return the names of all generations that have a link, by link."""
        return {link: self.name(link) for link in LINKS}

    def look(self) -> dict[str, Any]:
        """Return what an operator asks: the names by link, C(why_failed), and the files C(edited) by hand."""
        names, failed = self.names(), self.name(FAILED)
        if failed and os.path.exists(f"{self._of(failed)}/{SETTLED}"):
            names[FAILED] = None
        return {**names, "why_failed": self.why_failed() if names[FAILED] else "", "edited": self.edited()}

    def led_since(self, link: str) -> float | None:
        """Return when a link was made lead where it does, in seconds since 1970 on this machine; None without it."""
        return os.lstat(self._path(link)).st_mtime if self.name(link) and os.path.lexists(self._path(link)) else None

    def texts(self, link: str) -> dict[str, str] | None:
        """Return the files of a generation by name, without why it failed; None where the link leads nowhere."""
        name = self.name(link)
        if name is None:
            return None
        there = sorted(os.listdir(self._of(name)))
        return {one: read(f"{self._of(name)}/{one}") or "" for one in there if one not in OWN}

    def edited(self) -> list[str]:
        """Return the names of files in use that differ from what was written or are gone; none where it is unknown."""
        name = self.name(CURRENT)
        if name is None:
            return self._lost()
        manifest = self._written(name)
        if manifest is None:
            return []
        written = [line.split("  ", 1) for line in manifest.splitlines()]
        return [one for digest, one in written if _digest(self.in_use(one) or "") != digest]

    def in_use(self, name: str) -> str | None:
        """Return the text that the process would read in a file now; None without that file."""
        return read(self._path(name))

    def paths(self, names: Iterable[str]) -> list[str]:
        """Return the paths of files by which the process knows them."""
        return [self._path(name) for name in names]

    def apart(self, link: str = PROVEN) -> list[str]:
        """Return the paths of files that differ between what is in use and what the node would go back to."""
        before = self.texts(link)
        return self.paths(differing(before, self.texts(CURRENT) or {})) if before is not None else []

    def unlinked(self, names: Iterable[str]) -> list[str]:
        """Return the names of files whose link is missing or leads nowhere, so that no process could read them."""
        used = os.listdir(self._of(name)) if (name := self.name(CURRENT)) else []
        return [one for one in names if one in used and not os.path.isfile(self._path(one))]

    def link(self, names: Iterable[str]) -> None:
        """Make the links of files again."""
        for one in names:
            self._link(one)

    def prepare(self, allow: Callable[[str], object]) -> None:
        """Make the directory of all generations; C(allow) gives the path that it gets its owners and mode."""
        os.makedirs(self._path(DIRECTORY), mode=0o750, exist_ok=True)
        allow(self._path(DIRECTORY))

    def adopt(self, names: Iterable[str], allow: Callable[[str], object] = lambda at: None) -> None:
        """Take files that stand in the directory itself into the current generation, and link to them there.

        These are the files of an installation from before generations, and those whose link an editor has replaced.
        At each moment every path has the content that it had, and C(allow) gives a new directory its owners and mode,
        so that the node may read it whatever becomes of this run. The first generation of such an installation counts
        as proven.
        """
        found = [one for one in names if self._is_strange(one)]
        if not found:
            return

        def copy(at: str) -> None:
            """Fill the first generation, which the node may read."""
            allow(at)
            self._copy_to(at, found)

        name = self.name(CURRENT)
        if name is None:
            name = self._new_name("adopted")
            self._fill(name, copy)
            self._point(CURRENT, name)
        else:
            self._copy_to(self._of(name), found)
        for one in found:
            self._link(one)

    def stage(self, name: str, write: Callable[[str], object]) -> None:
        """Make a generation, which C(write) fills in the directory that it gets, and let it wait for its turn."""
        name = self._new_name(name)
        self._fill(name, lambda at: self._write_with_manifest(at, write))
        # The links of new files lead nowhere until the turn, and then there is nothing left to do but one rename.
        for one in os.listdir(self._of(name)):
            if one != MANIFEST and not os.path.lexists(self._path(one)):
                self._link(one)
        self._point(STAGED, name)

    def unstage(self) -> None:
        """Forget what waits."""
        self._drop(STAGED)
        self._prune()

    def switch(self, keep_edited: bool = True) -> bool:
        """Make the staged generation the current one; what is proven stays so until this one is.

        Without C(keep_edited) one with files edited by hand does not: the node never started with them.
        """
        staged, current = self.name(STAGED), self.name(CURRENT)
        if staged is None:
            return False
        self._settle_proven()
        if current and not keep_edited and self.is_proven() and self.edited():
            # Its files are gone, unless what waits has them as they were before somebody edited them.
            self._point(PROVEN, staged if self._written(staged) == self._written(current) else NONE_YET)
        self._point(CURRENT, staged)
        self._drop(STAGED)
        self._prune()
        return True

    def is_proven(self) -> bool:
        """Return whether the node has been whole with its current generation; also where it has none."""
        return self.name(CURRENT) in (None, self.name(PROVEN))

    def is_started(self, record: str) -> bool:
        """Return whether the process of the start record in a directory began after the switch, with these files."""
        names = [one for one in self.texts(CURRENT) or {} if os.path.isfile(f"{record}/{one}")]
        if not names or any(read(f"{record}/{one}") != self.in_use(one) for one in names):
            return False
        # Most files leave no copy in the record. The time of the link is that of the switch.
        switched = os.lstat(self._path(CURRENT)).st_mtime_ns
        return all(os.stat(f"{record}/{one}").st_mtime_ns >= switched for one in names)

    def prove(self) -> bool:
        """Note that the node has been whole with its current generation: there is no way back behind this."""
        current, proven = self.name(CURRENT), self.name(PROVEN)
        if current is None or self.is_proven():
            return False
        # In this order: a cut leaves both links at the same one, and it is noted again.
        if proven is None:
            self._drop(EARLIER)
        else:
            self._point(EARLIER, proven)
        self._point(PROVEN, current)
        self._drop(BEFORE)
        self._prune()
        return True

    def way_back(self) -> str | None:
        """Return the name of the generation to go back to; None where the node was whole with that in use, or none."""
        return None if self.is_proven() else self.name(PROVEN)

    def doubted(self) -> str | None:
        """Return the link to what the node would go back to if it were not whole with what is in use; None without."""
        if not self.is_proven():
            return PROVEN if self.name(PROVEN) else None
        return EARLIER if self.name(EARLIER) not in (None, self.name(CURRENT)) else None

    def take_proof_back(self) -> bool:
        """Note that the node was not whole with its current generation after all: the way back leads behind it."""
        earlier = self.name(EARLIER)
        if earlier is None or self.doubted() != EARLIER:
            return False
        self._point(PROVEN, earlier)
        self._drop(EARLIER)
        return True

    def go_back(self, why: str) -> bool:
        """Make the proven generation the current one again; the one given up is kept with why."""
        back, current = self.way_back(), self.name(CURRENT)
        if back is None or current is None:
            return False
        # A disk that is full must not keep the node from its older files; they are there, and links need no block.
        with contextlib.suppress(OSError):
            _write(f"{self._of(current)}/{WHY}", why)
        self._settle_proven()
        # In this order: what a cut run calls failed is never what the node starts with.
        self._point(CURRENT, back)
        self._point(FAILED, current)
        self._drop(STAGED)
        self._prune()
        return True

    def why_failed(self) -> str:
        """Return why the last generation was given up, empty without one."""
        name = self.name(FAILED)
        return (read(f"{self._of(name)}/{WHY}") or "").strip() if name else ""

    def settle_failed(self) -> None:
        """Note that what was given up is wanted no more."""
        name = self.name(FAILED)
        if name and not os.path.exists(f"{self._of(name)}/{SETTLED}"):
            _write(f"{self._of(name)}/{SETTLED}", "")

    def forget_failed(self) -> None:
        """Let the generation that was given up be tried again."""
        self._drop(FAILED)
        self._prune()

    def _settle_proven(self) -> None:
        """Make the link to what is proven, where an installation has none yet."""
        if not os.path.lexists(self._path(PROVEN)):
            self._point(PROVEN, self.name(PROVEN) or NONE_YET)
        self._drop(BEFORE)

    def _written(self, name: str) -> str | None:
        """Return the digests of the files that were written as a generation; None of one that was taken over."""
        return read(f"{self._of(name)}/{MANIFEST}")

    def _lost(self) -> list[str]:
        """Return what is left of a current generation that is gone: links to nothing, or a copy in its place."""
        if os.path.isdir(self._path(CURRENT)):
            return [CURRENT]
        there = sorted(os.listdir(self._directory)) if os.path.isdir(self._directory) else []
        return [one for one in there if self._leads_to_current(one) and not os.path.isfile(self._path(one))]

    def _leads_to_current(self, name: str) -> bool:
        path = self._path(name)
        return os.path.islink(path) and os.readlink(path) == f"{CURRENT}/{name}"

    def _path(self, name: str) -> str:
        return f"{self._directory}/{name}"

    def _of(self, name: str) -> str:
        return f"{self._directory}/{DIRECTORY}/{name}"

    def _write_with_manifest(self, at: str, write: Callable[[str], object]) -> None:
        write(at)
        digests = {one: _digest(read(f"{at}/{one}") or "") for one in sorted(os.listdir(at))}
        _write(f"{at}/{MANIFEST}", "".join(f"{digest}  {one}\n" for one, digest in digests.items()))

    def _copy_to(self, at: str, names: Iterable[str]) -> None:
        for one in names:
            _copy(self._path(one), f"{at}/{one}")

    def _is_strange(self, name: str) -> bool:
        """Return whether a file is here that is no link into the current generation."""
        path = self._path(name)
        if not os.path.isfile(path):
            return False
        return not self._leads_to_current(name) or self.name(CURRENT) is None

    def _new_name(self, wanted: str) -> str:
        name, number = wanted, 1
        while os.path.lexists(self._of(name)):
            number += 1
            name = f"{wanted}-{number}"
        return name

    def _fill(self, name: str, write: Callable[[str], object]) -> None:
        # A generation has its name only once it is whole; what a cut run has left of another is pruned.
        new = f"{self._of(name)}.new"
        shutil.rmtree(new, ignore_errors=True)
        os.makedirs(new, mode=0o750)
        write(new)
        for one in os.listdir(new):
            _sync(f"{new}/{one}")
        _sync(new)
        os.rename(new, self._of(name))
        _sync(f"{self._directory}/{DIRECTORY}")

    def _point(self, link: str, name: str) -> None:
        self._replace_link(link, f"{DIRECTORY}/{name}")

    def _link(self, name: str) -> None:
        self._replace_link(name, f"{CURRENT}/{name}")

    def _replace_link(self, name: str, target: str) -> None:
        new = self._path(f"{name}.new")
        with contextlib.suppress(FileNotFoundError):
            os.remove(new)
        os.symlink(target, new)
        os.replace(new, self._path(name))
        _sync(self._directory)

    def _drop(self, link: str) -> None:
        if os.path.islink(self._path(link)):
            os.remove(self._path(link))
            _sync(self._directory)

    def _prune(self) -> None:
        """Remove generations without a link, and links of files that no generation has any more."""
        kept = {name for name in self.names().values() if name}
        for one in os.listdir(self._path(DIRECTORY)):
            # What is no directory was laid there by hand. None of this may end a run that has a node stopped.
            if one not in kept and os.path.isdir(self._of(one)) and not os.path.islink(self._of(one)):
                shutil.rmtree(self._of(one), ignore_errors=True)
        files = {file for name in kept for file in os.listdir(self._of(name))}
        for one in os.listdir(self._directory):
            if self._leads_to_current(one) and one not in files:
                os.remove(self._path(one))


def read(path: str) -> str | None:
    """Return the text of a file; None without that file."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text)
    os.chmod(path, 0o640)
    _sync(path)


def _copy(source: str, target: str) -> None:
    new = f"{target}.new"
    shutil.copy2(source, new)
    before, copied = os.stat(source), os.stat(new)
    if (before.st_uid, before.st_gid) != (copied.st_uid, copied.st_gid):
        os.chown(new, before.st_uid, before.st_gid)
    os.replace(new, target)
    _sync(target)


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def differing(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the names of the files that differ between two generations, new and removed ones with them.

    Properties that differ in nothing but the order of sets are alike: a node that has them keeps them as they are.
    """
    return sorted(name for name in {*before, *after} if not same_file(name, before.get(name), after.get(name)))
