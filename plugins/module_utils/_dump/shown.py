# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What of a record is shown: decoded fields without their secrets, cut where they are long. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from .._core.properties import is_secret
from .._core.times import iso
from .asked import METADATA_TOPIC, Asked
from .printed import Record

#: What stands for a secret, as on the page.
MASK = "***"
#: Characters of one text that are shown.
LONGEST = 4_000
#: What a SCRAM login and a delegation token are proven by, whatever record they stand in.
_PROOFS = frozenset({"salt", "storedkey", "serverkey", "hmac", "iterationsalt"})
#: How the shell writes them: name=value within brackets.
_IN_TREE = re.compile(r"\b(salt|storedKey|serverKey|hmac)=[^,)}\]]*", re.IGNORECASE)
#: What parts the fields of a key in text, and the words of the tree.
_IN_KEY, _IN_WORDS = re.compile("::|[=,]"), re.compile(r"[\s:=,()\[\]{}]+")
#: The nodes that stand without an indent, and the one below which settings are.
_ROOTS, _SETTINGS = ("image:", "local:"), "configs"
_HIDDEN = f"{MASK} (it could not be decoded, so a secret in it could not be left out)"


def shown(record: Record, partition: str, asked: Asked) -> dict[str, Any]:
    """Return a record for people, with a name for each field."""
    found: dict[str, Any] = {
        "partition": partition,
        "offset": record.offset,
        "timestamp": record.time,
        "time": iso(record.time),
        "timestamp_type": record.time_type,
        "key": _cut(_decoded(record.key) if asked.is_internal else record.key),
        "key_size": record.key_size,
        "value_size": record.value_size,
        "headers": record.headers,
        "transactional": record.is_transactional,
    }
    if record.control:
        found["control"] = record.control
    elif asked.is_internal:
        found["value"] = _cut(_value(record.value, asked.topic))
    elif asked.payload:
        found["value"] = _cut(record.value)
    return found


def texts(record: Record, asked: Asked) -> list[str]:
    """Return what a key that is asked for is compared with: the key, of a decoded record each text in its fields.

    Records of metadata have no key: their type and the texts in them count, without secrets.
    """
    if not asked.is_internal:
        return [] if record.key is None else [record.key]
    if asked.topic == METADATA_TOPIC:
        return list(_leaves(_value(record.value, asked.topic)))
    key = _decoded(record.key)
    return _fields_of_text(key) if isinstance(key, str) else list(_leaves(key))


def words(line: str) -> list[str]:
    """Return what a key that is asked for is compared with in a line of the tree: names, as TOPIC:orders, and parts."""
    found = [line.strip().removesuffix(":"), *(word.removesuffix(":") for word in line.split())]
    return [*found, *_IN_WORDS.split(line.strip())]


def _fields_of_text(key: str) -> list[str]:
    """Return the fields of a key as Kafka before 4.0 prints it: offset_commit::group=billing,partition=orders-1."""
    fields = _IN_KEY.split(key)
    topics = [field.rpartition("-")[0] for field in fields if field.rpartition("-")[2].isdigit()]
    return [one for one in (key, *fields, *topics) if one]


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    elif isinstance(value, (str, int)) and value != MASK:
        yield str(value)


def _decoded(text: str | None) -> Any:
    try:
        return None if text is None else without_secrets(json.loads(text))
    except ValueError:
        return text


def _value(text: str | None, topic: str) -> Any:
    """Return a decoded value; what is no JSON is not shown where Kafka keeps its secrets."""
    if text is None:
        return None
    try:
        return without_secrets(json.loads(text))
    except ValueError:
        return _HIDDEN if topic == METADATA_TOPIC else text


def without_secrets(value: Any) -> Any:
    """Return decoded fields with a mask for each secret: proofs of logins, and values of settings named like one."""
    if isinstance(value, list):
        return [without_secrets(one) for one in value]
    if not isinstance(value, dict):
        return value
    is_setting = {"name", "value"} <= value.keys() and is_secret(str(value["name"]))
    return {
        name: MASK
        if one is not None
        and ((is_setting and name == "value") or name.lower() in _PROOFS or _is_named_secret(name, one))
        else without_secrets(one)
        for name, one in value.items()
    }


def _is_named_secret(name: str, value: Any) -> bool:
    return isinstance(value, str) and is_secret(name)


def _cut(value: Any) -> Any:
    """Return a text that is not too long, and says so; fields stay fields unless they are long as text."""
    if isinstance(value, (dict, list)):
        text = json.dumps(value, ensure_ascii=False)
        return value if len(text) <= LONGEST * 4 else _cut(text)
    if isinstance(value, str) and len(value) > LONGEST:
        return f"{value[:LONGEST]}... ({len(value):,} characters)"
    return value


def tree_lines(text: str) -> list[str]:
    """Return the lines of the shell's tree without secrets: proofs, and the values of settings named like one."""
    found: list[str] = []
    hidden_below: int | None = None
    settings: int | None = None
    # Only this ends a line of the shell; a value may hold what splitlines() takes for an end as well.
    for line in text.removesuffix("\n").split("\n"):
        depth = len(line) - len(line.lstrip(" "))
        if hidden_below is not None and not (depth <= hidden_below and _is_name(line, depth)):
            if found[-1].strip() != MASK:
                found.append(f"{' ' * (hidden_below + 2)}{MASK}")
            continue
        hidden_below = None
        if _is_name(line, depth):
            name = line.strip()[:-1]
            if settings is None or depth <= settings:
                settings = depth if name == _SETTINGS else None
            elif depth > settings + 2 and is_secret(name):
                # Above it is what the settings are of, such as a topic, which may have any name.
                hidden_below = depth
        found.append(_IN_TREE.sub(lambda match: f"{match[1]}={MASK}", line))
    return found


def _is_name(line: str, depth: int) -> bool:
    """Return whether a line names a node of the tree.

    The shell indents only the first line of a value, and a name follows its last one. So what stands without an indent
    is one of a value, but for the two names that the tree begins with.
    """
    return line.endswith(":") and (depth > 0 or line in _ROOTS)
