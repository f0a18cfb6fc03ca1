"""Judge who may read records, and of which topics, by the settings. Pure.

An entry of topics is a name, or what names begin with and "*" behind it, as ACLs have it (literal, prefixed): other
patterns are easily wider than they look. "CLUSTER/" before it binds it to one cluster.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ansible_collections.streamops.kafka.plugins.module_utils._core import service_settings as taken
from page.core.checks import short
from page.records.naming import normal

#: What the settings have of records.
KEYS = (*taken.RECORDS, "show_unmasked")


@dataclass(frozen=True)
class Rights:
    """Who may read records of which topics. C(masked): names of fields (of C(normal)) whose values are hidden.

    C(show_unmasked): with names to mask, also show values in which none can be found, as they are no JSON.
    """

    readers: frozenset[str] = frozenset()
    topics: tuple[str, ...] = ()
    masked: frozenset[str] = frozenset()
    show_unmasked: bool = False

    @property
    def is_on(self) -> bool:
        """Whether anyone may read anything."""
        return bool(self.readers and self.topics)

    def may_read(self, user: str, cluster: str, topic: str) -> bool:
        """Return whether a user may read the records of a topic."""
        return user in self.readers and any(_fits(one, cluster, topic) for one in self.topics)


def _fits(entry: str, cluster: str, topic: str) -> bool:
    # No name of a topic has a slash, while that of a cluster may.
    where, slash, pattern = entry.rpartition("/")
    if slash and where != cluster:
        return False
    if not pattern.endswith("*"):
        return pattern == topic
    # Settings and offsets are in topics of such names, which nobody means by "*": Kafka's own, those of MirrorMaker
    # (heartbeats and checkpoints, .internal), and copies of the first (west._schemas).
    begin = pattern[:-1]
    is_hidden = topic.startswith("_") and not begin.startswith("_")
    is_copy = "._" in topic and "._" not in begin
    return topic.startswith(begin) and not (is_hidden or is_copy or topic.endswith(".internal"))


def rights_of(given: object, users: Collection[str], clusters: Collection[str]) -> tuple[Rights, list[str]]:
    """Return the rights in the setting C(records), and what is wrong with it; without it nobody may read."""
    if not isinstance(given, dict):
        return Rights(), [f"records is no object with {', '.join(KEYS)}. Correct it."]
    wrong = [f"records.{short(name)} is unknown. Remove it." for name in sorted(given.keys() - set(KEYS))]
    lists = {name: given.get(name, []) for name in taken.RECORDS}
    for name, most in taken.RECORDS.items():
        value = lists[name]
        if not isinstance(value, list) or len(value) > most or not all(isinstance(one, str) for one in value):
            wrong.append(f"records.{name} is no list of at most {most} texts. Correct it.")
    if not isinstance(given.get("show_unmasked", False), bool):
        wrong.append(f"records.show_unmasked is {short(given['show_unmasked'])}. Set true or false.")
    if wrong:
        return Rights(), wrong
    readers, topics, masked = lists.values()
    wrong += [f"records.readers has {short(one)}, who is not in users. Add the user there." for one in readers
              if one not in users]  # fmt: skip
    wrong += [one for entry in topics for one in _wrong_entry(entry, clusters)]
    wrong += [f"records.masked has {short(one)}. Name a field with 1 to {taken.LONGEST_NAME} printable characters."
              for one in masked if not taken.is_name(one)]  # fmt: skip
    if readers and not topics:
        wrong.append("records.readers is set without records.topics. List the topics that they may read.")
    if wrong:
        return Rights(), wrong
    fields = frozenset(map(normal, masked))
    return Rights(frozenset(readers), tuple(topics), fields, given.get("show_unmasked", False)), []


def _wrong_entry(entry: str, clusters: Collection[str]) -> list[str]:
    where, slash, pattern = entry.rpartition("/")
    if slash and where not in clusters:
        return [f"records.topics has {short(entry)}, whose cluster is not in clusters. Correct its name."]
    if not taken.TOPICS.fullmatch(pattern):
        return [
            f"records.topics has {short(entry)}. Write the name of a topic, or its beginning and * behind it, as "
            "orders.* does."
        ]
    return []
