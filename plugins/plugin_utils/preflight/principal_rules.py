# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The principal that Kafka makes of a certificate's subject: ssl.principal.mapping.rules (KIP-371, KIP-432).

A rule holds when its pattern matches the whole subject, which Java writes as RFC 2253 says: what stands last in the
certificate comes first. The first rule that holds decides; when none does, the connection is refused.

Worth its lines: a node that its peers take for another principal forms no quorum, and the logs do not say why. Patterns
are those of Java; what Python would read in another way is reported as unknown and never guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# One rule and the comma behind it; patterns and replacements hold no slash that is not escaped.
_RULE = re.compile(
    r"\s*(?:(?P<default>DEFAULT)|RULE:(?P<pattern>(?:\\.|[^\\/])*)/(?P<to>(?:\\.|[^\\/])*)/(?P<case>[LU]?))?\s*(?:,|$)"
)
# Java's words that Python spells in another way: (?<name>...), \k<name>, \z, \Z, and \Q...\E for a literal.
_NAMED = re.compile(r"\(\?<(?=[A-Za-z])")
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|$)")
_STEP = re.compile(r"\\(?P<literal>.)|\$\{(?P<name>\w+)\}|\$(?P<number>\d+)|(?P<plain>[^\\$]+)", re.DOTALL)


class RuleError(Exception):
    """Rules that no broker would start with, or a subject that they lead to no principal; the text says why."""


class UnknownRuleError(Exception):
    """A pattern of Java that cannot be followed here, so nobody can tell beforehand what it does."""


@dataclass(frozen=True)
class Rule:
    """One rule; DEFAULT has no pattern."""

    pattern: str | None = None
    replacement: str = ""
    case: str = ""


def parse(rules: str) -> list[Rule]:
    """The rules of a text as Kafka reads it; empty ones are ignored. Raises RuleError for what it refuses."""
    text, place, found = rules.strip(), 0, []
    while place < len(text):
        match = _RULE.match(text, place)
        if match is None or match.end() == place:
            raise RuleError(f"no rule begins with {text[place : place + 40]!r}")
        if match["default"]:
            found.append(Rule())
        elif match["pattern"] is not None:
            found.append(Rule(match["pattern"], match["to"], match["case"]))
        place = match.end()
    return found


def principal(rules: str, subject: str) -> str:
    """The name of the principal whose certificate has this subject (RFC 2253).

    Raises RuleError when these rules make no principal of it, UnknownRuleError when that cannot be known here.
    """
    for rule in parse(rules):
        if rule.pattern is None:
            return subject
        pattern = _compiled(rule.pattern)
        if pattern.fullmatch(subject):
            name = pattern.sub(lambda match, to=rule.replacement: _replaced(match, to), subject)  # type: ignore[misc]
            return name.lower() if rule.case == "L" else name.upper() if rule.case == "U" else name
    raise RuleError("no rule matches the whole of it")


def _compiled(pattern: str) -> re.Pattern[str]:
    spelt = _QUOTED.sub(lambda match: re.escape(match[1]), pattern)
    spelt = _NAMED.sub("(?P<", spelt).replace(r"\z", r"\Z")
    if "&&" in spelt or _has_nested_class(spelt) or re.search(r"\\[pPhHRXGk]", spelt):
        raise UnknownRuleError(pattern)
    try:
        return re.compile(spelt)
    except (re.error, OverflowError) as problem:
        raise UnknownRuleError(f"{pattern} ({problem})") from problem


def _has_nested_class(pattern: str) -> bool:
    """Say whether a class of characters holds another one: to Java their union, to Python a bracket like any other."""
    inside, first = False, False
    for part in re.findall(r"\\.|\[\^?|.", pattern, re.DOTALL):
        if part[0] == "[":
            if inside:
                return True
            inside, first = True, True
            continue
        # What stands first in a class is itself, even its end.
        if part == "]" and not first:
            inside = False
        first = False
    return False


def _replaced(match: re.Match[str], replacement: str) -> str:
    """Return what Java's Matcher puts in place of a match, with Kafka's addition: a missing group is a literal."""
    parts, place = [], 0
    while place < len(replacement):
        step = _STEP.match(replacement, place)
        if step is None:
            raise RuleError(f"its replacement {replacement!r} is none of Java's")
        place = step.end()
        if step["number"]:
            parts.append(_group(match, step["number"]))
        elif step["name"]:
            parts.append(_named_group(match, step["name"]))
        else:
            parts.append(step["literal"] or step["plain"])
    return "".join(parts)


def _group(match: re.Match[str], digits: str) -> str:
    """The group that the most of the first digits name, and the rest of the digits as they are."""
    groups, used = len(match.groups()), 1
    number = int(digits[0])
    if number > groups:
        if groups == 0:
            raise RuleError(f"its replacement refers to group {number}, and the pattern has none")
        return f"${digits}"
    while used < len(digits) and int(digits[: used + 1]) <= groups:
        used += 1
    return (match[int(digits[:used])] or "") + digits[used:]


def _named_group(match: re.Match[str], name: str) -> str:
    if name not in match.re.groupindex:
        raise RuleError(f"its replacement refers to group {name}, which the pattern does not have")
    return match[name] or ""
