# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether several sets of topic patterns have a name in common, decided exactly and with such a name. Pure.

Patterns are turned into partial derivatives (Antimirov 1996): what is left of a pattern after one character. Names of
topics are made of 65 characters only, so all patterns can be followed at once through every name that could matter,
shortest first. Exclusions count too, which comparing texts of patterns never could.
"""

from __future__ import annotations

import string
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

#: What names of topics are made of (org.apache.kafka.common.internals.Topic.LEGAL_CHARS), letters first so that the
#: names found look like names.
ALPHABET = string.ascii_lowercase + string.ascii_uppercase + string.digits + "-_."
#: Names followed before giving up: far more than honest lists of patterns need, and done within a second or two.
MAX_STATES = 1000
#: Copies that a{n,m} is written out into before giving up.
MAX_COPIES = 60
_ALL = frozenset(ALPHABET)
_CLASSES = {
    "d": frozenset(string.digits),
    "w": frozenset(string.ascii_letters + string.digits + "_"),
    "s": frozenset(),
}
_EMPTY: Term = ("empty",)

if TYPE_CHECKING:
    # ("chars", set), ("empty",), ("cat", a, b), ("alt", a, b ...), ("star", a).
    Term = tuple[Any, ...]


class Unreadable(Exception):
    """A pattern, or a comparison, that is beyond this file: look-around, back references, flags, too many states."""


@dataclass(frozen=True)
class Wanted:
    """What a name must be: with `prefix` before it, matched whole by one of `include` and by none of `exclude`."""

    prefix: str
    include: tuple[str, ...]
    exclude: tuple[str, ...] = ()


def common_name(wanted: Sequence[Wanted]) -> str | None:
    """The shortest name of a topic that is all that is wanted, None when there is none; Unreadable when unknown."""
    start = tuple((_start(one.include, one.prefix), _start(one.exclude, one.prefix)) for one in wanted)
    letters = _letters([term for pair in start for terms in pair for term in terms])
    seen = {start}
    queue = deque([("", start)])
    while queue:
        name, state = queue.popleft()
        if name and all(_accepts(include) and not _accepts(exclude) for include, exclude in state):
            return name
        for letter in letters:
            after = tuple((_step(include, letter), _step(exclude, letter)) for include, exclude in state)
            if after not in seen and all(include for include, _exclude in after):
                seen.add(after)
                queue.append((name + letter, after))
        if len(seen) > MAX_STATES:
            raise Unreadable(f"more than {MAX_STATES} beginnings of names to follow")
    return None


def _start(patterns: Iterable[str], prefix: str) -> frozenset[Term]:
    terms = frozenset(_parsed(pattern) for pattern in patterns)
    for letter in prefix:
        terms = _step(terms, letter)
    return terms


def _accepts(terms: frozenset[Term]) -> bool:
    return any(_nullable(term) for term in terms)


def _step(terms: frozenset[Term], letter: str) -> frozenset[Term]:
    return frozenset(left for term in terms for left in _derived(term, letter))


def _letters(terms: Iterable[Term]) -> list[str]:
    """One letter for each kind of letters that no pattern tells apart."""
    sets = list({chars for term in terms for chars in _sets(term)})
    kinds: dict[tuple[bool, ...], str] = {}
    for letter in ALPHABET:
        kinds.setdefault(tuple(letter in chars for chars in sets), letter)
    return list(kinds.values())


def _sets(term: Term) -> Iterable[frozenset[str]]:
    if term[0] == "chars":
        return [term[1]]
    return [chars for part in term[1:] for chars in _sets(part)]


@lru_cache(maxsize=10_000)
def _nullable(term: Term) -> bool:
    kind = term[0]
    if kind == "cat":
        return _nullable(term[1]) and _nullable(term[2])
    return kind in ("empty", "star") or (kind == "alt" and any(_nullable(part) for part in term[1:]))


@lru_cache(maxsize=50_000)
def _derived(term: Term, letter: str) -> frozenset[Term]:
    """What may be left of a term once this letter is read."""
    kind = term[0]
    if kind == "chars":
        return frozenset([_EMPTY]) if letter in term[1] else frozenset()
    if kind == "alt":
        return frozenset(left for part in term[1:] for left in _derived(part, letter))
    if kind == "star":
        return frozenset(_cat(left, term) for left in _derived(term[1], letter))
    if kind == "cat":
        first = frozenset(_cat(left, term[2]) for left in _derived(term[1], letter))
        return first | _derived(term[2], letter) if _nullable(term[1]) else first
    return frozenset()


def _cat(first: Term, second: Term) -> Term:
    if first == _EMPTY:
        return second
    if second == _EMPTY:
        return first
    # To the right, so that equal remainders are equal terms.
    return ("cat", first[1], _cat(first[2], second)) if first[0] == "cat" else ("cat", first, second)


@lru_cache(maxsize=1_000)
def _parsed(pattern: str) -> Term:
    """The term of a pattern of java.util.regex that matches whole names; Unreadable for what is not regular."""
    text = pattern.removeprefix("^")
    if text.endswith("$") and not text.endswith("\\$"):
        text = text[:-1]
    return _Parser(text).whole()


class _Parser:
    """A reader of the regular part of java.util.regex."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0

    def whole(self) -> Term:
        """The term of the whole text."""
        term = self._alternatives()
        if self.place < len(self.text):
            raise Unreadable(f"{self.text!r}: {self.text[self.place]!r} closes nothing")
        return term

    def _peek(self) -> str:
        return self.text[self.place : self.place + 1]

    def _next(self) -> str:
        letter = self._peek()
        if not letter:
            raise Unreadable(f"{self.text!r} ends too early")
        self.place += 1
        return letter

    def _taken(self, word: str) -> bool:
        if self.text.startswith(word, self.place):
            self.place += len(word)
            return True
        return False

    def _alternatives(self) -> Term:
        parts = [self._sequence()]
        while self._taken("|"):
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else ("alt", *parts)

    def _sequence(self) -> Term:
        term = _EMPTY
        while self._peek() not in ("", "|", ")"):
            term = _cat(term, self._repeated(self._atom()))
        return term

    def _atom(self) -> Term:
        letter = self._next()
        if letter == "(":
            if self._peek() == "?" and not self._taken("?:"):
                raise Unreadable(f"{self.text!r} has a group that begins with (?")
            term = self._alternatives()
            if not self._taken(")"):
                raise Unreadable(f"{self.text!r} has a group that does not end")
            return term
        if letter == "[":
            return ("chars", self._set())
        if letter == "\\":
            return ("chars", self._escaped())
        if letter in "^$*+?{":
            raise Unreadable(f"{self.text!r} has {letter!r} in the middle")
        return ("chars", _ALL if letter == "." else frozenset(letter) & _ALL)

    def _escaped(self) -> frozenset[str]:
        letter = self._next()
        if letter.lower() in _CLASSES:
            return _CLASSES[letter] if letter.islower() else _ALL - _CLASSES[letter.lower()]
        if letter.isalnum():
            raise Unreadable(f"{self.text!r} has \\{letter}")
        return frozenset(letter) & _ALL

    def _set(self) -> frozenset[str]:
        negated, found = self._taken("^"), frozenset("")
        while not self._taken("]"):
            letter = self._next()
            if letter == "[" or (letter == "&" and self._peek() == "&"):
                raise Unreadable(f"{self.text!r} has a set inside a set")
            chars = self._escaped() if letter == "\\" else frozenset(letter)
            if len(chars) == 1 and self._peek() == "-" and self.text[self.place + 1 : self.place + 2] not in ("", "]"):
                self._next()
                first, last = next(iter(chars)), self._next()
                if last in "\\[":
                    raise Unreadable(f"{self.text!r} has a range that ends in {last!r}")
                chars = frozenset(chr(code) for code in range(ord(first), ord(last) + 1))
            found |= chars
        return (_ALL - found) if negated else (found & _ALL)

    def _repeated(self, term: Term) -> Term:
        while self._peek() and self._peek() in "*+?{":
            least, most = self._times()
            if self._peek() == "+":
                raise Unreadable(f"{self.text!r} has a quantifier that gives nothing back")
            self._taken("?")  # whether it takes much or little makes no difference for whole names
            term = _times(term, least, most)
        return term

    def _times(self) -> tuple[int, int | None]:
        letter = self._next()
        if letter != "{":
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[letter]
        text = ""
        while not self._taken("}"):
            text += self._next()
        least, comma, most = text.partition(",")
        if not least.isdigit() or (most and not most.isdigit()):
            raise Unreadable(f"{self.text!r} has {{{text}}}")
        bounds = int(least), (int(most) if most else None if comma else int(least))
        if max(bounds[0], bounds[1] or 0) > MAX_COPIES:
            raise Unreadable(f"{self.text!r} repeats more than {MAX_COPIES} times")
        return bounds


def _times(term: Term, least: int, most: int | None) -> Term:
    result: Term = ("star", term) if most is None else _EMPTY
    for _copy in range((most or least) - least):
        result = ("alt", _EMPTY, _cat(term, result))
    for _copy in range(least):
        result = _cat(term, result)
    return result
