"""What a table of arguments is made of: a key, its JSON type, its rule; and the check of a whole object. Pure.

Each job has one table (`config.py` of its room); its page in docs repeats it and a test compares the two.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from spark_validation.core.errors import BadArgumentsError

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
#: Names whose values are secrets: the rule of module_utils/_core/properties.py, which a test compares with this one.
SECRET_NAME = re.compile(
    r"pass(word|phrase|wd|code)|(?<!by)pass$|pw(d|$)|secret|token(?!\.(endpoint|expiry|max)|s\.per)|jaas|credential"
    r"|private|user\.info|connection[._-]?string|(api|access|account)[._-]?key|(?<![a-z])sas(?![a-z])"
    r"|(authorization|assertion|jwt|(?<!oauth)bearer|hmac)([._-]?(value|string|base64|b64|hex|raw))?$"
    r"|key([._-]?store)?[._-]?(base64|b64|content|data|der|hex|jwk|material|pem)$"
    r"|(?<!message)(?<!partition)(?<!routing)(?<!sort)[._-]key$",
    re.IGNORECASE,
)
Rule = Callable[[Any], "str | None"]

# Spark refuses the first group itself, with an exception in the middle of a run; the job sets the second.
_NOT_YOURS = {
    "auto.offset.reset": "the job reads frozen offset ranges",
    "enable.auto.commit": "the job commits no offsets",
    "interceptor.classes": "Spark refuses it",
    "key.serializer": "Spark sets it",
    "value.serializer": "Spark sets it",
    "key.deserializer": "Spark sets it",
    "value.deserializer": "Spark sets it",
    "group.id": "Spark makes one group per query",
    "bootstrap.servers": "use the key bootstrap_servers",
    "acks": "the job proves acks=all",
    "enable.idempotence": "the job proves the idempotent producer",
    "transactional.id": "Spark's sink has no transactions",
    "isolation.level": "the job reads read_committed",
}


class Reach(Protocol):
    """How one cluster is reached; the arguments of job smoke are one."""

    @property
    def bootstrap_servers(self) -> list[str]:
        """Brokers to start from, host:port."""

    @property
    def kafka(self) -> dict[str, str]:
        """Native client properties."""

    @property
    def timeout_seconds(self) -> int:
        """Return how long a client waits for a broker that does not answer, in seconds."""


@dataclass(frozen=True)
class Field:
    """One key: the JSON types it takes (for the message and the check), whether it must be given, what it means."""

    kind: str
    meaning: str
    required: bool = False
    rule: Rule = lambda _value: None


def between(low: int, high: int) -> Rule:
    """A number from `low` to `high`, both allowed."""
    return lambda value: None if low <= value <= high else f"{value} is not between {low} and {high}"


def matching(pattern: re.Pattern[str], what: str) -> Rule:
    """A text that matches as a whole; `what` names it in the complaint."""
    return lambda value: None if pattern.fullmatch(value) else f"{value!r} is not {what}"


def one_of(*words: str) -> Rule:
    """One of a few words."""
    return lambda value: None if value in words else f"{value!r} is not one of {', '.join(words)}"


run_id = matching(_RUN_ID, "1 to 32 letters, digits, dots, dashes or underscores")
topic = matching(_TOPIC, "a legal topic name")
count = between(1, 10_000_000_000)


def servers(value: list[str]) -> str | None:
    """A list of host:port that is not empty."""
    bad = [server for server in value if not re.fullmatch(r".+:\d{1,5}", server)]
    if not value:
        return "the list is empty"
    return f"not host:port: {', '.join(bad)}" if bad else None


def client_properties(value: dict[str, str]) -> str | None:
    """Native client properties, but for those that Spark or the job sets."""
    refused = [f"{key} ({_NOT_YOURS[key]})" for key in sorted(value) if key in _NOT_YOURS]
    refused += [f"{key} (write it without the prefix kafka.)" for key in sorted(value) if key.startswith("kafka.")]
    return f"not to be set here: {', '.join(refused)}" if refused else None


def masked(properties: Mapping[str, str]) -> dict[str, str]:
    """Client properties as a report may show them."""
    return {key: "***" if SECRET_NAME.search(key) else value for key, value in sorted(properties.items())}


def _is_map_of_strings(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "list of strings": lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    "list of objects": lambda value: isinstance(value, list) and all(isinstance(item, dict) for item in value),
    "map of strings": _is_map_of_strings,
}


def checked(raw: Any, fields: Mapping[str, Field]) -> dict[str, Any]:
    """A decoded arguments file -> the keys that were given; raises BadArgumentsError with every problem found."""
    if not isinstance(raw, dict):
        raise BadArgumentsError([f"the file must hold one JSON object, not {type(raw).__name__}"])
    given = {key: value for key, value in raw.items() if value is not None}
    found = problems(given, fields)
    if found:
        raise BadArgumentsError(found)
    return given


def problems(given: Mapping[str, Any], fields: Mapping[str, Field], where: str = "") -> list[str]:
    """Every problem of one object; `where` is written before its keys (`source.`)."""
    found = [f"unknown key {where + key!r}, known are: {', '.join(fields)}" for key in sorted(set(given) - set(fields))]
    found += [f"{where}{key} is required" for key, known in fields.items() if known.required and key not in given]
    for key, known in fields.items():
        if key in given:
            found += _problems_of(where + key, known, given[key])
    return found


def _problems_of(key: str, known: Field, value: Any) -> list[str]:
    if not _TYPES[known.kind](value):
        return [f"{key} must be a JSON {known.kind}, not {type(value).__name__}"]
    complaint = known.rule(value)
    return [f"{key}: {complaint}"] if complaint else []
