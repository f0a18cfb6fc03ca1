# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The rules on the health of a cluster: each takes one look and the thresholds, and yields findings.

They stand by subject in the files beside this one. A finding's kind is the name of its rule, or of one of its cases;
docs/health.md has a line for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .broker_rules import (
    broker_cordoned,
    broker_down,
    broker_elsewhere,
    cluster_unreachable,
    disk_full,
    ghost_broker,
    log_dir_offline,
    not_copied,
)
from .group_rules import group_missing, group_stopped, group_without_members, groups_unread, untold_groups
from .model import SERIOUS, HealthFinding, Limits, State, is_of_what_is_down, place
from .move_rules import move, throttle_left
from .node_rules import certificate_ends, known_vulnerability, start_files
from .partition_rules import at_min_isr, leaders_skewed, partitions, uneven_replicas
from .quorum_rules import controller, ensemble, no_controller, observer_behind, quorum_unsteady
from .rack_rules import rack_loss


def findings(state: State, limits: Limits) -> list[HealthFinding]:
    """Return everything that is not as it should be; of a cluster that does not answer little more than that."""
    rules = RULES if state.info is not None else (cluster_unreachable, quorum_unsteady, ensemble)
    every = [finding for rule in rules for finding in rule(state, limits)]
    waits = any(is_of_what_is_down(finding.kind, finding.severity) for finding in every)
    left = [finding for finding in every if not (waits and finding.kind in ADVICE)]
    return sorted(left, key=lambda finding: place(finding.kind, finding.severity))


def untold(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Find questions that had no answer: what they are about is unknown, which is not the same as well."""
    for question in (*state.untold, *untold_groups(state.groups)):
        yield HealthFinding(
            "untold",
            SERIOUS,
            f"unknown: {question}",
            found="no answer",
            allowed="an answer",
            next_step="run it again; if this stays, look at the log of the broker that is named",
        )


#: The rules on a cluster that answers, in the order of their findings.
RULES: tuple[Callable[[State, Limits], Iterator[HealthFinding]], ...] = (
    broker_down,
    broker_elsewhere,
    not_copied,
    ghost_broker,
    quorum_unsteady,
    no_controller,
    controller,
    observer_behind,
    ensemble,
    partitions,
    at_min_isr,
    uneven_replicas,
    rack_loss,
    leaders_skewed,
    disk_full,
    log_dir_offline,
    broker_cordoned,
    throttle_left,
    move,
    group_missing,
    group_without_members,
    group_stopped,
    groups_unread,
    certificate_ends,
    known_vulnerability,
    start_files,
    untold,
)
#: What can wait until everything is up; while something is down, it may not even be true.
ADVICE = frozenset(("leaders_skewed",))
#: What a finding may be.
KINDS = (
    "cluster_unreachable",
    "broker_down",
    "broker_elsewhere",
    "broker_cut_off",
    "broker_not_copying",
    "pair_not_copying",
    "catching_up",
    "ghost_broker",
    "quorum_unsteady",
    "no_controller",
    "quorum_unknown",
    "controller_no_voter",
    "controller_behind",
    "ghost_voter",
    "observer_behind",
    "ensemble",
    "partitions_offline",
    "under_min_isr",
    "under_replicated",
    "at_min_isr",
    "uneven_replicas",
    "rack_loss",
    "rack_unknown",
    "leaders_skewed",
    "disk_full",
    "log_dir_offline",
    "broker_cordoned",
    "throttle_left",
    "move_running",
    "move_left",
    "group_missing",
    "group_without_members",
    "group_stopped",
    "groups_unread",
    "certificate_ends",
    "known_vulnerability",
    "start_files_failed",
    "start_files_staged",
    "start_files_edited",
    "untold",
)
