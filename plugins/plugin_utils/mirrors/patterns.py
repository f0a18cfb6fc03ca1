# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Regular expressions as resources of ACLs, which know whole names, prefixes and everything. Pure.

The resources cover every name that an expression matches, and as few others as they can: a mirror may always do what
its flow asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

LITERAL, PREFIXED = "literal", "prefixed"
#: A name or a prefix, and which of the two.
Resource = tuple[str, str]
#: Any name, as ACLs write it (ResourcePattern.WILDCARD_RESOURCE).
ANY: Resource = ("*", LITERAL)

# After which a character need not be there at all.
_OPTIONAL = "*?{"
# What ends the part of an expression that is one text.
_SPECIAL = ".^$*+?{([|)]}\\"


def resources(patterns: Iterable[str]) -> list[Resource]:
    """The resources that cover the names these expressions match, sorted; those that others cover are left out."""
    found = {resource for pattern in patterns for part in _alternatives(pattern) for resource in _resource(part)}
    if ANY in found:
        return [ANY]
    prefixes = [name for name, kind in found if kind == PREFIXED]
    return sorted(
        (name, kind)
        for name, kind in found
        if not any(name.startswith(prefix) and (name, kind) != (prefix, PREFIXED) for prefix in prefixes)
    )


def _alternatives(pattern: str) -> list[list[str]]:
    """The alternatives of an expression outside of any group, each as its atoms: a\\.b is a, \\. and b; [.] is one."""
    parts: list[list[str]] = [[]]
    depth = 0
    for atom in _atoms(pattern):
        depth += {"(": 1, ")": -1}.get(atom, 0)
        if atom == "|" and depth == 0:
            parts.append([])
        else:
            parts[-1].append(atom)
    return parts


def _atoms(pattern: str) -> Iterator[str]:
    at = 0
    while at < len(pattern):
        end = at + 1
        if pattern[at] == "\\":
            end = at + 2
        elif pattern[at] == "[":
            end = _class_end(pattern, at)
        yield pattern[at:end]
        at = end


def _class_end(pattern: str, start: int) -> int:
    """Say where a character class ends; its first character may be the bracket itself, and a class may hold classes."""
    at = start + 1
    if pattern[at : at + 1] == "^":
        at += 1
    at += 1 if pattern[at : at + 1] == "]" else 0
    while at < len(pattern) and pattern[at] != "]":
        at = _class_end(pattern, at) if pattern[at] == "[" else at + (2 if pattern[at] == "\\" else 1)
    return at + 1


def _resource(atoms: list[str]) -> Iterator[Resource]:
    """Yield what covers one alternative: its text when it is nothing else, or the text that it begins with."""
    listed = atoms[1:] if atoms[:1] == ["^"] else list(atoms)
    listed = listed[:-1] if listed[-1:] == ["$"] else listed
    text = ""
    for number, atom in enumerate(listed):
        character = _character(atom)
        following = listed[number + 1] if number + 1 < len(listed) else ""
        if not character or (following and following in _OPTIONAL):
            yield (text, PREFIXED) if text else ANY
            return
        text += character
    if text:
        yield text, LITERAL


def _character(atom: str) -> str:
    """The one character that an atom stands for; empty when it may be several."""
    if atom.startswith("[") and atom.endswith("]"):
        inside = atom[1:-1]
        return _character(inside) or inside if len(inside) == 1 and inside not in "^\\" else _escaped(inside)
    if len(atom) == 1:
        return "" if atom in _SPECIAL else atom
    return _escaped(atom)


def _escaped(atom: str) -> str:
    """The character after a backslash, unless the two mean a class, a boundary or a quotation."""
    return atom[1] if len(atom) == 2 and atom[0] == "\\" and not atom[1].isalnum() else ""
