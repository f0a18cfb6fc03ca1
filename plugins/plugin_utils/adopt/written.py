# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Variables as YAML with comments, which Ansible reads back as exactly these variables.

What could be taken for a template is marked as !unsafe, so it stays what it is; only a secret is a template, that of
its name in the vault. (Sanity of Ansible allows PyYAML alone, which writes no comments.)
"""

from __future__ import annotations

import base64
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Union

import yaml

#: What Jinja begins with: an expression, a statement, a comment; or the line of Ansible by which other signs begin one.
_TEMPLATE = re.compile(r"\{[{%#]|\A#jinja2:")
#: What the stream of YAML may hold as it is in a line (YAML 1.1, c-printable), and what ends no line.
_UNPRINTABLE = re.compile("[^\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufdcf\ufdf0-\ufefe\uff00-\ufffd]")
#: Text that Jinja leaves alone wherever it stands: no braces, which begin one together with those of a secret, no line
#: ends, which it may drop, and no #jinja2: (Ansible).
_PLAIN = re.compile(r"[\w./=:;,@+ -]*")
_WIDTH = 116
_INDENT = 2
#: What ends a plain key or value within braces.
_FLOW = re.compile(r"[\[\]{},:!]|\? ")


@dataclass(frozen=True)
class Secret:
    """A value that nobody writes down. what -- the property or argument that it is of."""

    what: str

    @property
    def variable(self) -> str:
        """Return its name in the vault."""
        # a.b and a_b are two.
        return "vault_kafka_" + re.sub("[^A-Za-z0-9_]", "__", self.what.replace("_", "__").replace(".", "_"))


@dataclass(frozen=True)
class Text:
    """A text with a secret in it: parts in their order."""

    parts: tuple[str | Secret, ...]


Value = Union[None, bool, int, float, str, Secret, Text, Sequence["Value"], Mapping[str, "Value"]]


@dataclass(frozen=True)
class Remarked:
    """A dict whose entries have comments. remarks -- by key, lines above the entry; behind -- below the last one."""

    values: Mapping[str, Value]
    remarks: Mapping[str, Sequence[str]] = field(compare=False)
    behind: Sequence[str] = field(default=(), compare=False)


def document(
    variables: Mapping[str, Value | Remarked],
    head: Sequence[str] = (),
    remarks: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Return a file of variables; empty where there are none.

    head -- lines of the comment at its top; remarks -- by variable, lines of comments above it.
    """
    if not variables:
        return ""
    lines = ["---", *_comments(head, "")]
    for name, value in variables.items():
        lines += _comments((remarks or {}).get(name, ()), "")
        if isinstance(value, Remarked):
            lines += _remarked(name, value)
        else:
            lines += _entry(name, value, "")
    return "\n".join(lines) + "\n"


def secrets(value: Value | Remarked) -> Iterator[Secret]:
    """Yield each secret that a value holds."""
    if isinstance(value, Secret):
        yield value
    elif isinstance(value, Text):
        yield from (part for part in value.parts if isinstance(part, Secret))
    elif isinstance(value, Remarked):
        yield from secrets(value.values)
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from secrets(part)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for part in value:
            yield from secrets(part)


def _remarked(name: str, value: Remarked) -> list[str]:
    lines = [f"{_key(name)}:" if value.values else f"{_key(name)}: {{}}"]
    for key, part in value.values.items():
        lines += [*_comments(value.remarks.get(key, ()), "  "), *_entry(key, part, "  ")]
    return [*lines, *_comments(value.behind, "  ")]


def _entry(key: str, value: Value, indent: str) -> list[str]:
    return _behind(f"{indent}{_key(key)}:", value, f"{indent}  ")


def _behind(before: str, value: Value, indent: str) -> list[str]:
    """Return the lines of a value behind a key or a dash; those of a flat dict are one where there is room."""
    if isinstance(value, Mapping) and value:
        words = [(_key(key), _scalar(part)) for key, part in value.items()]
        line = f"{before} {{{', '.join(map(': '.join, words))}}}"
        is_flat = all(map(_is_flat, value.values())) and not any(_FLOW.search(text) for pair in words for text in pair)
        if len(indent) > _INDENT and is_flat and len(line) <= _WIDTH:
            return [line]
        return [before, *(line for key, part in value.items() for line in _entry(key, part, indent))]
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        return [before, *(line for part in value for line in _item(part, indent))]
    return [f"{before} {_scalar(value)}"]


def _item(value: Value, indent: str) -> list[str]:
    """Return the lines of an item of a list; the first entry of a dict stands behind the dash."""
    lines = _behind(f"{indent}-", value, f"{indent}  ")
    if isinstance(value, Mapping) and len(lines) > 1:
        return [f"{indent}- {lines[1][len(indent) + 2 :]}", *lines[2:]]
    return lines


def _is_flat(value: Value) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _scalar(value: Value) -> str:
    if isinstance(value, Secret):
        return _quoted(f"{{{{ {value.variable} }}}}")
    if isinstance(value, Text):
        return _quoted("".join(_part(part) for part in value.parts))
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[]"
    if isinstance(value, str) and _TEMPLATE.search(value):
        return f"!unsafe {_quoted(value)}"
    if isinstance(value, str) and _UNPRINTABLE.search(value):
        return _quoted(value)
    return _dumped(value, None)


def _part(part: str | Secret) -> str:
    """Return a part of a template: a secret by its name, text with signs of Jinja by its Base64."""
    if isinstance(part, Secret):
        return f"{{{{ {part.variable} }}}}"
    if _PLAIN.fullmatch(part):
        return part
    # Ansible doubles backslashes within expressions, so no text of Jinja can hold every text.
    return f"{{{{ '{base64.b64encode(part.encode()).decode()}' | b64decode }}}}"


def _key(key: str) -> str:
    return _quoted(key) if _UNPRINTABLE.search(key) else _dumped(key, None)


def _quoted(text: str) -> str:
    return _dumped(text, '"')


def _dumped(value: bool | float | str | None, style: str | None) -> str:
    text = str(yaml.safe_dump(value, default_style=style, allow_unicode=True, width=2**31, explicit_end=False))
    return text.removesuffix("\n").removesuffix("\n...")


def _comments(lines: Sequence[str], indent: str) -> list[str]:
    """Return comments that end no line of their own and hold nothing that YAML refuses."""
    shown = (_UNPRINTABLE.sub("?", line.replace("\t", " ")) for line in lines)
    return [
        f"{indent}# {part}"
        for line in shown
        for part in textwrap.wrap(line, _WIDTH - len(indent), break_on_hyphens=False) or [""]
    ]
