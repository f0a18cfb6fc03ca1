# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Kafka's own definitions of its keys, and its verdict on a value: type, range, valid words (ConfigDef.parseValue).

definitions.json is read from the jars of each supported version by tools/make_definitions. What a validator does not
tell in words (lists of throttled replicas, metadata versions), and classes, are taken as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("definitions.json")
#: Bytes of Java's whole numbers by the name of their type.
_BYTES = {"SHORT": 2, "INT": 4, "LONG": 8}
#: Python reads no longer numbers.
_MOST_DIGITS = 4000
#: What String.trim takes away.
_JAVA_SPACE = "".join(map(chr, range(33)))
# Double.valueOf takes these, with a letter for its type behind them, and hexadecimal ones.
_DECIMAL = re.compile(r"([+-]?)(?:(NaN|Infinity)|((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?)")
_HEXADECIMAL = re.compile(r"([+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?")


@dataclass(frozen=True)
class Definition:
    """What one Kafka version says of one key.

    type -- Kafka's name: BOOLEAN, STRING, INT, SHORT, LONG, DOUBLE, LIST, CLASS or PASSWORD
    least, most -- the range of a number, None for no bound; other -- a number that is taken beside that range
    values -- the valid words, none for any; any_case -- whether their case does not matter
    empty -- whether there may be nothing; once -- whether a list names each entry once, and no empty one
    default -- of a number, what holds when nothing sets it; None for none
    """

    type: str
    least: float | None = None
    most: float | None = None
    other: float | None = None
    values: tuple[str, ...] = ()
    any_case: bool = False
    empty: bool = True
    once: bool = False
    default: float | None = None

    def takes(self, text: str) -> bool:
        """Return whether Kafka takes this text as the value."""
        text = text.strip(_JAVA_SPACE)
        if self.type == "BOOLEAN":
            return text.lower() in ("true", "false")
        if self.type in _BYTES or self.type == "DOUBLE":
            number = _double(text) if self.type == "DOUBLE" else _whole(text, _BYTES[self.type])
            return number is not None and self._in_range(number)
        if self.type == "LIST":
            return self._takes_entries(re.split(r"[ \t\n\x0b\f\r]*,[ \t\n\x0b\f\r]*", text) if text else [])
        if self.type == "STRING":
            return self._takes_word(text) and (self.empty or text != "")
        return True

    @property
    def allowed(self) -> str:
        """Return what Kafka takes, in words."""
        if self.type == "BOOLEAN":
            return "true or false"
        if self.type in _BYTES:
            end = 2 ** (8 * _BYTES[self.type] - 1)
            least, most = (-end if self.least is None else self.least), (end - 1 if self.most is None else self.most)
            other = "" if self.other is None else f", or {self.other}"
            return f"a whole number from {least} to {most}{other}"
        if self.type == "DOUBLE":
            return f"a number from {self.least} to {self.most}" if self.most is not None else "a number"
        words = ", ".join(self.values)
        if self.type == "LIST":
            once = ", each once" if self.once else ""
            filled = "" if self.empty else "at least one, "
            return f"{filled}of {words}{once}" if words else f"{filled}a list with commas{once}"
        return f"one of {words}" if words else "text that is not empty"

    def _in_range(self, number: float) -> bool:
        low = self.least is not None and number < self.least
        high = self.most is not None and number > self.most
        return not (low or high) or number == self.other

    def _takes_word(self, word: str) -> bool:
        return not self.values or (word.upper() if self.any_case else word) in self.values

    def _takes_entries(self, entries: list[str]) -> bool:
        if self.once and ("" in entries or len(set(entries)) < len(entries)):
            return False
        return (self.empty or bool(entries)) and all(map(self._takes_word, entries))


def _whole(text: str, size: int) -> int | None:
    """A whole number of so many bytes, as Integer.parseInt reads it; None for anything else."""
    number = int(text) if re.fullmatch(r"[+-]?\d+", text) and len(text) <= _MOST_DIGITS else None
    end = 2 ** (8 * size - 1)
    return number if number is not None and -end <= number < end else None


def _double(text: str) -> float | None:
    """A number as Double.parseDouble reads it; None for anything else."""
    if found := _HEXADECIMAL.fullmatch(text):
        try:
            return float.fromhex(found[1])
        except OverflowError:
            return float("-inf" if text.startswith("-") else "inf")
    found = _DECIMAL.fullmatch(text)
    return float(f"{found[1]}{found[2] or found[3]}") if found else None


def _read() -> Mapping[str, Mapping[str, Mapping[str, Definition]]]:
    """The definitions by kind (broker, topic), version and key."""
    names = {"min": "least", "max": "most", "or": "other"}
    found: dict[str, dict[str, dict[str, Definition]]] = {}
    kinds = json.loads(_FILE.read_text())
    all_versions = kinds.pop("versions")
    place = {version: index for index, version in enumerate(all_versions)}
    for kind, keys in kinds.items():
        for key, said in keys.items():
            for one in said:
                first, last = one.pop("since", all_versions[0]), one.pop("until", all_versions[-1])
                versions = all_versions[place[first] : place[last] + 1]
                own: dict[str, Any] = {names.get(name, name): value for name, value in one.items()}
                definition = Definition(**{**own, "values": tuple(own.get("values", ()))})
                for version in versions:
                    found.setdefault(kind, {}).setdefault(version, {})[key] = definition
    return found


_DEFINITIONS = _read()
#: By version and key what a broker or controller, and what a topic, takes.
BROKER_KEYS: Mapping[str, Mapping[str, Definition]] = _DEFINITIONS["broker"]
TOPIC_KEYS: Mapping[str, Mapping[str, Definition]] = _DEFINITIONS["topic"]
