# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Follow over many runs of the module whether all nodes agree, in words for people. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._core.looks import Looks
from .._core.progress import DONE, GOING, Step, duration
from .model import SUBJECTS

#: Options of the wait: the module documents and checks them, the action that repeats the module reads them.
WAIT_OPTIONS: dict[str, dict[str, Any]] = {
    "subjects": {"type": "list", "elements": "str", "choices": list(SUBJECTS)},
    "controller_protocol": {"type": "str", "choices": ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]},
    "settle": {"type": "float", "default": 5.0},
    "node_timeout": {"type": "float", "default": 5.0},
    "names": {"type": "int", "default": 5},
    "must_agree": {"type": "bool", "default": True},
    "timeout": {"type": "int", "default": 60},
    "interval": {"type": "float", "default": 5.0},
    "start_timeout": {"type": "int", "default": 8},
}


class Tracker(Looks):
    """Takes what the module returned, run by run."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__("metadata_compare", options["start_timeout"])
        #: By subject and nodes that differ in it, since when that was seen in every run.
        self._since: dict[tuple[str, tuple[str, ...]], float] = {}

    def _judge(self, elapsed: float) -> Step:
        """Judge whether the nodes agree."""
        found = self.last
        self._remember()
        self._advance.take(
            answering=-len(found.get("silent", ())),
            caught_up=-len(found.get("lagging", ())),
            alike=-len(found["differences"]),
        )
        return self._as_step(DONE if found["agree"] else GOING, self._text())

    def _text(self) -> str:
        """Say whether the nodes agree, or how many do not."""
        return str(self.last["lines"][0])

    def _remember(self) -> None:
        """Carry over since when a difference was seen."""
        seen = {}
        for one in self.last["differences"]:
            key = one["subject"], tuple(one["apart"])
            one["seen_since"] = seen[key] = self._since.get(key, one["seen_since"])
        self._since = seen

    def _facts(self) -> dict[str, Any]:
        """One row of the history."""
        last = self.last
        return {
            "agree": last.get("agree"),
            "offset": last.get("offset"),
            "silent": last.get("silent", []),
            "lagging": last.get("lagging", {}),
            "subjects": [one["subject"] for one in last.get("differences", [])],
            "error": self.error or None,
        }

    def failure(self, timeout: float) -> dict[str, Any]:
        """Return {msg, failure} of a wait in which the nodes did not come to agree within C(timeout) seconds."""
        failure = {"kind": "MetadataCompareTimeout", **self._facts()}
        if not self.last:
            return {"msg": f"{self._title}: {self.error}", "failure": failure}
        first, *more = self.last["lines"]
        within = f" within {duration(timeout)}" if timeout else ""
        told = [f"{self._title}: the nodes do not agree{within}: {first}."]
        told += [f"- {line}" for line in more[:10]]
        told += [f"- {self.error}"] if self.error else []
        return {"msg": "\n".join([*told, self._way_out()]), "failure": failure}

    def _way_out(self) -> str:
        if self.last["silent"]:
            return "Start or look at the nodes that do not answer, then run again. Nothing was changed."
        if self.last.get("subjects_not_compared") and not (self.last["differences"] or self.last["lagging"]):
            return "Give the user of the connection the right to describe what was not compared. Nothing was changed."
        if self.last["differences"]:
            return (
                "Look at the log of the node that differs: a node that cannot apply a record of the metadata says so "
                "there. A restart makes it read the metadata anew. Nothing was changed."
            )
        return (
            "Nodes that are behind read the metadata log too slowly, or not at all: look at them. Nothing was changed."
        )
