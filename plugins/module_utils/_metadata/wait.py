# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Follow over many runs of the module whether all nodes agree, in words for people. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._core.progress import DONE, FAILED, GOING, Advance, Step, duration
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


class Tracker:
    """Takes what the module returned, run by run."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._start_timeout = options["start_timeout"]
        self._advance = Advance()
        #: By subject and nodes that differ in it, since when that was seen in every run.
        self._since: dict[tuple[str, tuple[str, ...]], float] = {}
        self.last: dict[str, Any] = {}
        self.error = ""

    def step(self, found: Mapping[str, Any], elapsed: float) -> Step:
        """Judge one run of the module at C(elapsed) seconds since the start of the wait."""
        if found.get("failed"):
            return self._failed(found, elapsed)
        self.error, self.last = "", dict(found)
        self._remember()
        self._advance.take(
            answering=-len(found.get("silent", ())),
            caught_up=-len(found.get("lagging", ())),
            alike=-len(found["differences"]),
        )
        text = f"metadata_compare: {found['lines'][0]}"
        return Step(DONE if found["agree"] else GOING, text, self._facts(), str(self._advance))

    def _remember(self) -> None:
        """Carry over since when a difference was seen."""
        seen = {}
        for one in self.last["differences"]:
            key = one["subject"], tuple(one["apart"])
            one["seen_since"] = seen[key] = self._since.get(key, one["seen_since"])
        self._since = seen

    def _failed(self, found: Mapping[str, Any], elapsed: float) -> Step:
        self.error = str(found.get("msg", "the look failed"))
        passing = (found.get("failure") or {}).get("passing", False) and (self.last or elapsed < self._start_timeout)
        if not passing:
            return Step(FAILED, self.error, self._facts())
        text = f"metadata_compare: {self.error.split(':', 1)[0]} does not answer"
        return Step(GOING, text, self._facts(), str(self._advance))

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
            return {"msg": f"metadata_compare: {self.error}", "failure": failure}
        first, *more = self.last["lines"]
        within = f" within {duration(timeout)}" if timeout else ""
        told = [f"metadata_compare: the nodes do not agree{within}: {first}."]
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
