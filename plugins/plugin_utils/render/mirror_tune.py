# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the tuning of a mirror (playbook mirror_tune.yml) needs: its flow, runs, properties, result and report."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...module_utils._core.properties import to_text
from ...module_utils._mirror.flows import LEGACY, Flow
from ...module_utils._mirror_tune.grid import OPTIONS, TASKS_KIND, Run, option_runs, tasks_runs, together_runs
from ...module_utils._mirror_tune.names import own_acls
from ...module_utils._mirror_tune.plan import START_SECONDS, STOP_SECONDS
from ..inventory.heap import heap_bytes
from ..mirrors import tune_result
from ..mirrors.external import VARIABLE, external_clusters
from ..mirrors.tune_ends import Load, end_of, machine_of
from ..mirrors.tune_properties import tune_properties
from ..mirrors.tuning import CONSUMER
from ..reports.tune_report import tune_report
from ..run.results import Results
from .parts import Parts
from .security import SASL_PROTOCOLS


class MirrorTune(Parts):
    """The key C(mirroring.tune) of the model.

    flows -- all of the inventory. mirrors -- the hosts of the mirrors next to a cluster, by its name. clients, options,
    endpoints -- as Mirroring has them, made when they are asked for.
    """

    def __init__(
        self,
        settings: Mapping[str, Any],
        host: str,
        flows: Sequence[Flow],
        mirrors: Callable[[str], Sequence[str]],
        clients: Callable[[], Mapping[str, Mapping[str, Any]]],
        options: Callable[[], Mapping[str, Any]],
        endpoints: Callable[[], Mapping[str, Mapping[str, Any]]],
        results: Results,
    ) -> None:
        self._settings, self._host, self._flows, self._mirrors = settings, host, flows, mirrors
        self._clients, self._options, self._endpoints, self._results = clients, options, endpoints, results
        super().__init__(
            {
                "refusals": self._refusals,
                "host": self._tuned_on,
                "is_host": lambda: self["host"] == host,
                "flow": lambda: {"source": self._flow.source, "target": self._flow.target},
                "topics": lambda: list(self._flow.topics),
                "topics_exclude": lambda: list(self._flow.topics_exclude),
                "addresses": lambda: self._clients()[self._flow.source]["bootstrap_servers"],
                "heap_bytes": lambda: heap_bytes(
                    str(settings["mirror_maker_heap_size"]).strip(), "mirror_maker_heap_size"
                ),
                "seconds": lambda: START_SECONDS + self._asked["run_seconds"] + 2 * STOP_SECONDS,
                "properties": self._properties,
                "acls": self._acls,
                "tasks_runs": lambda: _plain(tasks_runs(self._asked["tasks"], self._asked["rounds"])),
                "option_runs": self._option_runs,
                "together_runs": self._together_runs,
                "row": self._row,
                "lines": self._lines,
                "report": self._report,
            }
        )

    @property
    def _wanted(self) -> str:
        return str(self._settings.get("mirror_tune_flow") or "").strip()

    @property
    def _flow(self) -> Flow:
        return next(flow for flow in self._flows if flow.pair == self._wanted)

    @property
    def _asked(self) -> Mapping[str, Any]:
        asked: Mapping[str, Any] = self._results.own.tune_plan["asked"]
        return asked

    @property
    def _rows(self) -> Sequence[Mapping[str, Any]]:
        rows: Sequence[Mapping[str, Any]] = self._results.own.tune_rows
        return rows

    def _refusals(self) -> list[str]:
        """Return why this flow cannot be tuned, by the inventory alone; a sentence each."""
        known = {flow.pair: flow for flow in self._flows}
        if self._wanted not in known:
            return [
                f"mirror_tune_flow is {self._wanted!r}, which is no flow of mirror_flows; flows are "
                f"{', '.join(sorted(known)) or 'none'}."
            ]
        if known[self._wanted].engine == LEGACY:
            return [f"{self._wanted} has engine legacy. Only flows of MirrorMaker 2 can be tuned."]
        if not known[self._wanted].enabled:
            return [f"{self._wanted} is not enabled, so its mirrors have no login for it. Enable it first."]
        source = known[self._wanted].source
        if source in external_clusters(self._settings[VARIABLE]):
            return [
                f"{source} is a cluster of {VARIABLE}. A tuning writes a load into the source, so it tunes only flows "
                "between clusters of the inventory."
            ]
        mirrors = sorted(self._mirrors(known[self._wanted].target))
        if not mirrors or (self._named and self._named not in mirrors):
            return [
                f"mirror_tune_mirror is {self._named!r}; mirrors next to {known[self._wanted].target} are "
                f"{', '.join(mirrors) or 'none'}."
            ]
        return []

    def _tuned_on(self) -> str:
        """The mirror that the tuning runs on: the one that is named, else the first next to the flow's target."""
        return self._named or min(self._mirrors(self._flow.target))

    @property
    def _named(self) -> str:
        return str(self._settings.get("mirror_tune_mirror") or "").strip()

    def _properties(self) -> str:
        """The properties of the run that is under way, as text."""
        run = run_of(self._results.own.read("_mirror_maker_tune_run"))
        clients, options = self._clients(), self._options()
        version = str(self._settings["kafka_version"])
        return to_text(tune_properties(self._flow, run.number, run.tasks, run.properties, clients, options, version))

    def _acls(self) -> dict[str, list[dict[str, Any]]]:
        """By cluster what the mirror of a tuning needs; empty without logins, or without an authorizer."""
        found = {}
        for name, is_source in ((self._flow.source, True), (self._flow.target, False)):
            endpoint = self._endpoints()[name]
            protocol = endpoint["mirror_protocol" if is_source else "protocol"]
            principal = endpoint["user"] if protocol in SASL_PROTOCOLS else self._host
            is_asked = endpoint["has_authorizer"] and protocol != "PLAINTEXT"
            found[name] = own_acls(f"User:{principal}", is_source) if is_asked else []
        return found

    @property
    def _next(self) -> int:
        return max(int(row["number"]) for row in self._rows) + 1

    def _option_runs(self) -> list[dict[str, Any]]:
        """The runs of the second part; none without a knee."""
        knee = tune_result.tasks_knee(self._rows)
        if knee is None:
            return []
        asked = self._asked
        runs = option_runs(asked["options"], asked["rounds"], int(knee.point.value), self._next, self["heap_bytes"])
        return _plain(runs)

    def _together_runs(self) -> list[dict[str, Any]]:
        """The runs of the third part; none without a knee."""
        knee = tune_result.tasks_knee(self._rows)
        if knee is None:
            return []
        better = tune_result.better_settings(self._rows)
        return _plain(together_runs(better, self._asked["rounds"], int(knee.point.value), self._next))

    def _row(self) -> dict[str, Any]:
        """Return what is kept of the run that has just ended."""
        measured = self._results.own.tune_measured
        stopped = self._results.own.tune_stopped
        expected = int(self._results.own.tune_load["records"])
        kept = {key: measured[key] for key in ("records", "seconds", "bytes_per_second")}
        problem = tune_result.problem_of(kept["records"], expected, stopped["ran"], stopped["complaints"])
        if problem:
            kept["bytes_per_second"] = None
        cores = tune_result.cores_used(stopped["samples"], measured["first_at"], measured["last_at"])
        return {**self._results.own.read("_mirror_maker_tune_run"), **kept, **cores, "problem": problem}

    def _end(self) -> dict[str, Any]:
        plan = self._results.own.tune_plan["plan"]
        seen = self._results.own.tune_machine
        knee = tune_result.tasks_knee(self._rows)
        at_best = [row for row in self._rows if knee and row["kind"] == TASKS_KIND and row["tasks"] == knee.best.value]
        load = Load(
            plan["partitions"],
            plan["brokers"]["source"],
            int(str(CONSUMER["max.partition.fetch.bytes"])),
            int(str(CONSUMER["fetch.max.bytes"])),
        )
        return end_of(tune_result.tasks_curve(self._rows), load, machine_of(at_best, seen))

    @property
    def _missing(self) -> int:
        """Count the runs that the tuning did not come to, as far as known: what follows depends on their results."""
        return sum(len(self[part]) for part in ("tasks_runs", "option_runs", "together_runs")) - len(self._rows)

    def _lines(self) -> list[str]:
        """Return what was found, in lines for people."""
        mirrors = len(self._mirrors(self._flow.target))
        return tune_result.lines(self._flow.pair, self._rows, self._end(), mirrors, self._missing)

    def _report(self) -> list[dict[str, str]]:
        """The page as a file that the module node_files takes; it names clusters, so it is not for everybody."""
        path = os.path.abspath(os.path.expanduser(str(self._settings["mirror_tune_report"]).strip()))
        mirrors = len(self._mirrors(self._flow.target))
        page = tune_report(self._flow.pair, self._rows, self._end(), mirrors, self._missing)
        return [{"path": path, "content": page, "mode": "0640"}]


def run_of(plain: Mapping[str, Any]) -> Run:
    """A run from its plain data."""
    settings = {name: value for name, value in plain["settings"].items() if name in OPTIONS}
    return Run(int(plain["number"]), plain["kind"], int(plain["round"]), int(plain["tasks"]), plain["option"], settings)


def _plain(runs: Sequence[Run]) -> list[dict[str, Any]]:
    return [run.as_dict() for run in runs]
