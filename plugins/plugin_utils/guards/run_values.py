# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which values of a run cannot be read, and which nothing reads: found once, before the first host is asked.

A survey without an answer sends empty text: what a playbook needs is missing then, and the rest is not set.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ansible.module_utils.common.validation import check_type_dict

from ...module_utils._core.names import allowed_instead, capped, nearest
from ...module_utils._core.values import UnclearValueError, to_integer, typed
from ..inventory.model import OWN_PREFIXES
from ..specs import Spec, advice

#: A dict of numbers, of any type in its argument spec, which would refuse empty text.
FACTORS = "kafka_replication_factor"
#: The name of one topic. A survey of AWX knows no pattern of a text, so a name is judged where the plan begins.
TOPIC = "kafka_grow_topic"
#: Numbers for which empty text is no answer.
ANSWERS = ("kafka_grow_partitions", "kafka_replaced_id")
#: How many hosts a message names.
_SHOWN = 5
#: How like two names are, from 0 to 1, when one is taken for a slip of the other: "..._throtle" is, "kafka_env" is not.
SLIP = 0.88

#: What AWX gives every job as extra variables (awx_meta_vars of its jobs, and of its webhooks).
OF_AWX = re.compile(
    "awx_(job|user|schedule|workflow_job|parent_job|webhook)_|awx_project_(revision|scm_branch)$|awx_inventory_(id|name)$"
)


def is_blank(value: Any) -> bool:
    """Return whether a value is the empty text of a survey without an answer; null was written by hand, and is none."""
    return isinstance(value, str) and not value.strip()


def missing(variables: Mapping[str, Any], needed: Sequence[str]) -> list[str]:
    """Return one sentence for each variable that a playbook needs and was not given."""
    return [
        f"{name} is not set, or empty. fix: give it with -e {name}=VALUE."
        for name in needed
        if variables.get(name) is None or is_blank(variables[name])
    ]


def ill_named(variables: Mapping[str, Any]) -> list[str]:
    """Return one sentence for each variable that names a topic as none can be named."""
    named = [(TOPIC, str(variables[TOPIC]))] if variables.get(TOPIC) and not is_blank(variables[TOPIC]) else []
    with contextlib.suppress(TypeError, ValueError):  # that it is no dict is said by those who judge its type
        named += [(FACTORS, str(topic)) for topic in check_type_dict(variables.get(FACTORS) or {})]
    return [
        f"{name}: no topic can have the name {topic!r} (allowed: {allowed}). fix: "
        + ("take the blanks at its ends away." if allowed_instead(topic.strip()) is None else "correct the name.")
        for name, topic in named
        if (allowed := allowed_instead(topic))
    ]


def unread(given: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return a refusal for each extra variable that is a slip of a known name.

    Ansible takes any name after -e, and a survey any variable: a throttle with a letter too few would leave a move
    without one. A name that is like none of ours may be read by the user's own inventory or tasks.
    """
    names = sorted(known)
    found = []
    for name in sorted(set(given) - set(names)):
        # A name without our prefixes is most likely the user's, even one like ours but for the prefix.
        kin = [one for one in names if one.startswith(OWN_PREFIXES) == name.startswith(OWN_PREFIXES)]
        near = nearest(name, kin, SLIP)
        if near:
            found.append(f"nothing reads the extra variable {name}. fix: perhaps {near} is meant.")
    return found


def unknown(given: Iterable[str], known: Iterable[str], prefix: str) -> list[str]:
    """Return a refusal for each extra variable with this prefix that is no known name and none that AWX sets.

    The prefix is the playbook's own, so each name with it is meant for the playbook.
    """
    names = sorted(known)
    strange = sorted(name for name in set(given) - set(names) if name.startswith(prefix) and not OF_AWX.match(name))
    return [f"nothing reads the extra variable {name}. fix: {advice(name, names)}." for name in strange]


def unclear(hosts: Mapping[str, Mapping[str, Any]], options: Spec) -> list[str]:
    """Return one sentence for each value of these options that is no boolean, number or dict, with its hosts."""
    found: dict[str, list[str]] = {}
    for host, variables in hosts.items():
        for name, option in options.items():
            if name in variables:
                for why in _faults(name, variables[name], option):
                    found.setdefault(why, []).append(host)
    return [
        f"{why} on {capped(where, _SHOWN)}. fix: correct it, or leave it out to get the default."
        for why, where in found.items()
    ]


def _faults(name: str, value: Any, option: Mapping[str, Any]) -> Iterator[str]:
    if is_blank(value) and (name == FACTORS or name in ANSWERS):
        return
    if name != FACTORS:
        yield from map(str, typed(value, option, name)[1])
        return
    try:
        factors = check_type_dict(value)
    except (TypeError, ValueError):
        yield f"{name} is no dict of topics (found: {value!r}, allowed: numbers by topic, as in {{'orders': 3}})"
        return
    for topic, factor in factors.items():
        try:
            to_integer(factor, f"{name}.{topic}", (1, None))
        except UnclearValueError as error:
            yield str(error)
