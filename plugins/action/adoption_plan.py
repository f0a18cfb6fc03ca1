# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells which clusters run on machines that others installed, by what these told, and by what the clusters tell.

Makes the files of an inventory of one of them, and writes none.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ansible.context
from ansible.errors import AnsibleError

from ..module_utils._node.installed import KAFKA
from ..plugin_utils.adopt.asked import Address, Answer, Login, Question, answer, question
from ..plugin_utils.adopt.chosen import chosen, cluster_name
from ..plugin_utils.adopt.clusters import ForeignCluster
from ..plugin_utils.adopt.described import CONNECTION, PASSWORDS, Rules, described, reached
from ..plugin_utils.adopt.machines import READ, Said, said_by
from ..plugin_utils.adopt.placed import Placed, next_step, not_writable, placed, written_lines
from ..plugin_utils.adopt.screen import Looked, all_findings, looked, screen_lines
from ..plugin_utils.findings import REFUSE, Finding, refused
from ..plugin_utils.preflight.check import check_inventory
from ..plugin_utils.preflight.definitions import BROKER_KEYS, TOPIC_KEYS
from ..plugin_utils.progress.action import ClusterAction
from ..plugin_utils.specs import module_options

_RULES = Rules(BROKER_KEYS, TOPIC_KEYS, check_inventory)
_LOCAL = ("local", "ansible.builtin.local")


class ActionModule(ClusterAction):
    """Groups the nodes, asks their clusters from the control node, and makes the screen."""

    # No variable of the roles says how to reach a cluster that is not theirs.
    named_by = ("machines", "")

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the lines of the screen, the clusters with their nodes, and what was found."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        known = task_vars or {}
        _checked, options = self.validate_argument_spec(argument_spec=dict(module_options("adoption_plan")))
        machines = _plain(options["machines"])
        look = looked(machines, {host: _said(known["hostvars"][host]) for host in machines})
        addresses = {host: _address(host, known["hostvars"][host]) for host in look.machines}
        login = Login(
            options["user"],
            options["password"],
            *(_existing(options[name]) for name in ("ca_file", "certificate_file", "key_file")),
        )
        questions = [
            question(cluster, addresses, login) if cluster.product == KAFKA else None for cluster in look.clusters
        ]
        answers = [
            None if how is None else self._asked(cluster, how, known)
            for cluster, how in zip(look.clusters, questions, strict=True)
        ]
        findings = all_findings(look, answers)
        lines: list[str] = []
        step = ""
        if options["directory"]:
            files, of_inventory = self._inventory(look, questions, answers, options, known)
            findings = sorted(dict.fromkeys([*findings, *of_inventory]), key=lambda finding: finding.level != REFUSE)
            result["inventory"] = {"directories": [], "files": [], "is_refused": files is None}
            if files is not None:
                result["inventory"] |= files[0].result(list(filter(os.path.isdir, files[0].parents)))
                is_check = bool(self._task.check_mode)
                lines, step = written_lines(files[0], is_check), next_step(*files, is_check)
        return dict(
            result,
            changed=False,
            lines=screen_lines(look, answers, findings, lines, step),
            clusters=[_shown(cluster) for cluster in look.clusters],
            findings=[{"level": finding.level, "what": finding.what, "fix": finding.fix} for finding in findings],
            refused=bool(refused(findings)),
        )

    def _inventory(
        self,
        look: Looked,
        questions: Sequence[Question | None],
        answers: Sequence[Answer | Question | None],
        options: dict[str, Any],
        known: dict[str, Any],
    ) -> tuple[tuple[Placed, str] | None, list[Finding]]:
        """Return the files of an inventory with the mode of its cluster, None where none may be written; and why."""
        cluster = chosen(look, options["cluster"].strip())
        if isinstance(cluster, Finding):
            return None, [cluster]
        at = look.clusters.index(cluster)
        told, how = answers[at], questions[at]
        held = None
        if isinstance(told, Answer) and how is not None:
            held = _plain(self.call_here("streamops.kafka.resources_info", how.options, known))
        directory = os.path.abspath(os.path.expanduser(options["directory"]))
        hosts = reached({host: _plain(_variables(known["hostvars"][host])) for host in look.machines})
        written = described(look, cluster, told, held, cluster_name(directory), hosts, _RULES)
        if not written.files:
            return None, list(written.findings)
        try:
            entries = os.listdir(directory) if os.path.lexists(directory) else []
            there = {path: text for path in written.files if (text := _text(Path(directory, path))) is not None}
        except OSError as error:
            what = f"{error.filename} on the control node cannot be read: {error.strerror}"
            fix = "give another directory with -e kafka_adopt_inventory=DIR"
            return None, [*written.findings, Finding(REFUSE, what, fix)]
        files = placed(directory, written.files, there, entries)
        if isinstance(files, Finding):
            return None, [*written.findings, files]
        # Here, so that --check does not promise what a run cannot do.
        if files.missing and (path := _unwritable(files.parents)):
            return None, [*written.findings, not_writable(path)]
        return (files, cluster.mode), list(written.findings)

    def _asked(self, cluster: ForeignCluster, how: Question, known: dict[str, Any]) -> Answer | Question:
        """Ask a cluster from the control node, unless there is a reason against it."""
        if how.why:
            return how
        info = self.call_here("streamops.kafka.cluster_info", {**how.options, "include_partitions": False}, known)
        features: dict[str, Any] = {}
        if not info.get("failed") and not cluster.mode.startswith("zookeeper"):
            # The controller is not asked what it would refuse: that needs more than the right to look.
            wanted = {**how.options, "controller_protocol": how.controller_protocol, "ask_controller": False}
            features = self.call_here("streamops.kafka.features_info", wanted, known)
        return answer(how, info, features)


def _address(host: str, variables: Mapping[str, object]) -> Address:
    """Return how the control node reaches a host of the inventory."""
    # A host that does not say it is connected to as the command line or ansible.cfg does.
    connection = variables.get("ansible_connection") or ansible.context.CLIARGS.get("connection")
    return Address(str(variables.get("ansible_host") or host), connection in _LOCAL)


def _said(variables: Mapping[str, object]) -> Said:
    """Return what the variables of a host say of its node; one that cannot be read says nothing."""
    known: dict[str, object] = {}
    for name in READ:
        with contextlib.suppress(AnsibleError, KeyError, TypeError):
            known[name] = _plain(variables[name])
    return said_by(known)


def _plain(value: Any) -> Any:
    """Return a value without the tags that Ansible keeps at texts, which no writer of YAML knows."""
    return json.loads(json.dumps(value))


def _variables(variables: Mapping[str, object]) -> dict[str, object]:
    """Return the variables of a host by which Ansible reaches it, and whether it has passwords for that."""
    return {name: variables[name] for name in (*CONNECTION, *PASSWORDS) if name in variables}


def _text(path: Path) -> str | None:
    """Return what a file of the control node has; None where there is none."""
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None


def _unwritable(directories: Sequence[str]) -> str:
    """Return what keeps directories from being made and written into: the first that is there; empty where nothing."""
    for directory in directories:
        place = Path(directory)
        while not os.path.lexists(place):
            place = place.parent
        if not (place.is_dir() and os.access(place, os.W_OK | os.X_OK)):
            return str(place)
    return ""


def _existing(path: str) -> str:
    """Return the path of a file of the control node, empty where it is not there."""
    whole = os.path.expanduser(path)
    return whole if path and os.path.isfile(whole) else ""


def _shown(cluster: ForeignCluster) -> dict[str, Any]:
    """Return a cluster as a result has it."""
    return {
        "product": cluster.product,
        "cluster_id": cluster.cluster_id,
        "mode": cluster.mode,
        "quorum": cluster.quorum,
        "nodes": [
            {
                "host": node.host,
                "node_id": node.node_id,
                "roles": list(node.roles),
                "pid": node.told["pid"],
                "version": node.version,
                "vendor": node.vendor,
            }
            for node in cluster.nodes
        ],
    }
