# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The rules on brokers: whether the cluster answers, who is down, cut off or a stranger, and their disks."""

from __future__ import annotations

from collections.abc import Iterator

from .._cluster.attribution import CATCHING_UP, FOLLOWER, LEADER, PAIR, STARTING
from .._core.names import capped
from .model import BALANCE, FATAL, NOTE, SERIOUS, SHOWN, SITE, HealthFinding, Limits, State


def cluster_unreachable(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Find a cluster of which no server answers."""
    if state.info is None:
        yield HealthFinding(
            "cluster_unreachable",
            FATAL,
            f"the cluster does not answer: {state.unreachable}",
            found="no answer",
            allowed="an answer of one bootstrap server",
            next_step=f"look at the processes and logs of the nodes, then: {SITE}",
        )


def broker_down(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Find brokers of the inventory that do not answer at their own address, are fenced or not registered; without an
    inventory those of the registered ones that do not answer or are fenced.

    The partitions that lack nothing but its replica are within the finding, and those that it leads by the metadata.
    """
    led = {broker["id"]: broker.get("leaders") or 0 for broker in state.seen["nodes"]}
    for node_id, how in state.down.items():
        lacking = state.consequences.lacking(node_id)
        name = f"{state.name(node_id)} (id {node_id})" if state.nodes else str(node_id)
        waits = "restart no other broker; " if lacking.close or lacking.refusing else ""
        yield HealthFinding(
            "broker_down",
            SERIOUS,
            _with(f"broker {name} is down", ", ".join(filter(None, [_unserved(led.get(node_id, 0)), lacking.phrase]))),
            found=how,
            allowed="an answer at its own address" if node_id in state.silent else "registered and not fenced",
            next_step=f"{waits}look at the log of this broker, then: {SITE}",
        )


def _unserved(leaders: int) -> str:
    """Return what nobody serves although metadata has a leader for it: what a broker that is down leads."""
    if not leaders:
        return ""
    return f"{leaders:,} {'partition that it leads is' if leaders == 1 else 'partitions that it leads are'} not served"


def broker_elsewhere(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Find brokers whose advertised address leads to another node: nobody reaches them, and what they lead is mute."""
    for node_id, where in sorted(state.elsewhere.items()):
        yield HealthFinding(
            "broker_elsewhere",
            SERIOUS,
            f"clients do not reach {state.name(node_id)} (id {node_id}): {where}",
            found="another node at its address",
            allowed="itself at the address that it advertises",
            next_step="correct advertised_host and port of its listener (kafka_listeners), its name and address "
            f"translation, then: {SITE}, which restarts it first when its files change",
        )


def not_copied(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Find live replicas that are not in sync, with who is at fault, or that they catch up.

    The partitions that lack nothing but these replicas are within the finding.
    """
    for place, attribution in enumerate(state.attributions):
        if attribution.kind in _NOT_COPIED:
            kind, allowed, fix = _NOT_COPIED[attribution.kind]
            concerned = attribution.at_fault or attribution.followers
            names = ", ".join(f"{state.name(broker)}{_at(state, broker, attribution.kind)}" for broker in concerned)
            follows = ", ".join(state.consequences.because_of(place).refusals)
            changed = state.changed_last(attribution.at_fault)
            yield HealthFinding(
                kind,
                SERIOUS,
                _with(f"{attribution.phrase} ({names})", follows),
                found=changed or f"{len(attribution.missing)} partition(s) whose ISR lacks a live replica",
                allowed=allowed,
                next_step=fix,
            )


#: By kind of attribution: the kind of its finding, what is allowed, and what to do.
_NOT_COPIED = {
    LEADER: (
        "broker_cut_off",
        "followers that copy from this broker as from others",
        "see that its listener between brokers answers there (address, firewall, certificates, login), "
        f"then: {SITE}, which restarts it first when its files change",
    ),
    FOLLOWER: (
        "broker_not_copying",
        "a broker that copies from leaders from which others copy",
        f"look at its log and at what changed last in its properties, then: {SITE}, "
        "which restarts it first when its files change",
    ),
    PAIR: (
        "pair_not_copying",
        "a follower that copies from this leader too",
        f"look at the log of the follower, at what changed last on both, and at the network between them, then: {SITE}",
    ),
    STARTING: ("catching_up", "replicas in sync", "wait until it has caught up, and restart no other broker before"),
    CATCHING_UP: ("catching_up", "replicas in sync", "wait until it has caught up, and restart no other broker before"),
}


def _at(state: State, broker: int, kind: str) -> str:
    """Return where others reach a broker from which they cannot copy, behind its name; empty of any other."""
    node = next((node for node in state.nodes if node["node_id"] == broker), {})
    return f" at {node['replication']}" if kind in (LEADER, PAIR) and node.get("replication") else ""


def _with(what: str, follows: str) -> str:
    """Return a phrase with what follows from it, if anything does."""
    return f"{what}: {follows}" if follows else what


def ghost_broker(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Find registered brokers that the inventory does not have: no run upgrades, restarts or watches them."""
    for broker in state.strangers:
        is_silent = broker["id"] in state.silent
        is_away = broker["fenced"] or is_silent
        follows = state.consequences.lacking(broker["id"]).phrase if is_away else ""
        if broker["fenced"]:
            fix = f"move its replicas away, then the module broker_registration: broker {broker['id']}, unregistered"
        elif is_silent:
            fix = "add it to the inventory and look at its log, or end its process, until it is fenced"
        else:
            fix = "add it to the inventory, or drain_and_remove_broker.yml with an inventory that has it"
        yield HealthFinding(
            "ghost_broker",
            SERIOUS,
            _with(f"broker {broker['id']} is registered and not in the inventory", follows),
            found=f"no answer, twice: {state.silent[broker['id']]}"
            if is_silent
            else "registered and fenced"
            if broker["fenced"]
            else "registered and alive",
            allowed="the brokers of the inventory",
            next_step=fix,
        )


def broker_cordoned(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Find brokers and single log directories that get no new replicas (cordoned.log.dirs, KIP-1066): whoever set that
    meant it, so it leaves the cluster as it is, until somebody wonders why a broker stays empty."""
    for broker in state.seen["nodes"]:
        paths = [str(disk["path"]) for disk in broker.get("log_dirs") or () if disk.get("cordoned")]
        if not paths:
            continue
        name = state.name(broker["id"])
        whole = bool(broker.get("cordoned"))
        yield HealthFinding(
            "broker_cordoned",
            NOTE,
            f"{name} is cordoned: it gets no new replicas"
            if whole
            else f"log directory {capped(paths, SHOWN)} of {name} is cordoned: it gets no new replicas",
            found=f"cordoned.log.dirs has {'all' if whole else len(paths)} of its {len(broker['log_dirs'])} log "
            "directories",
            allowed="none, unless the broker is about to be drained",
            next_step=f"when it shall get replicas again: module broker_registration with broker {broker['id']}, "
            "uncordoned",
        )


def disk_full(state: State, limits: Limits) -> Iterator[HealthFinding]:
    """Find disks of log directories that run out; one finding a broker."""
    for broker in state.seen["nodes"]:
        for disk in broker.get("log_dirs") or ():
            total, usable = disk.get("total_bytes"), disk.get("usable_bytes")
            if not total or usable is None:
                continue
            least = min(limits.min_disk_free * total, limits.enough_disk_free_bytes)
            if usable < least:
                yield HealthFinding(
                    "disk_full",
                    SERIOUS,
                    f"disk of {state.name(broker['id'])} is {100 * (1 - usable / total):.0f} % full",
                    found=f"{usable / 1000**3:.1f} GB free",
                    allowed=f"at least {least / 1000**3:.1f} GB free",
                    # Nothing is moved while a broker is down.
                    next_step="shorten retention, or add disks"
                    if state.down
                    else f"shorten retention, add disks, or: {BALANCE}",
                )
                break


def log_dir_offline(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Find log directories that failed: their broker runs on without the replicas in them (KIP-112)."""
    for broker, paths in sorted(state.failed_log_dirs.items()):
        if paths:
            yield HealthFinding(
                "log_dir_offline",
                SERIOUS,
                f"log directory {capped(list(paths), SHOWN)} of {state.name(broker)} is offline",
                found="KAFKA_STORAGE_ERROR",
                allowed="every log directory online",
                next_step="look at the kernel log of its machine, replace the disk, then restart the broker",
            )
