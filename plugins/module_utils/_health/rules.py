# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The rules on the health of a cluster: each takes one look and the thresholds, and yields findings.

A finding's kind is the name of its rule, or of one of its cases; docs/health.md has a line for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import quorum_from
from ansible_collections.streamops.kafka.plugins.module_utils._core.cves import newest_listed, of_version
from ansible_collections.streamops.kafka.plugins.module_utils._core.names import capped
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import (
    FATAL,
    NOTE,
    SERIOUS,
    Finding,
    Limits,
    State,
)

#: How many names a finding shows.
SHOWN = 5
_SITE = "ansible-playbook streamops.kafka.site -i INVENTORY"
_BALANCE = "ansible-playbook streamops.kafka.rebalance -i INVENTORY -e plan_only=true"


def findings(state: State, limits: Limits) -> list[Finding]:
    """Return everything that is not as it should be; of a cluster that does not answer little more than that."""
    rules = RULES if state.info is not None else (cluster_unreachable, quorum_unsteady, ensemble)
    return [finding for rule in rules for finding in rule(state, limits)]


def cluster_unreachable(state: State, _limits: Limits) -> Iterator[Finding]:
    """Find a cluster of which no server answers."""
    if state.info is None:
        yield Finding(
            "cluster_unreachable",
            FATAL,
            f"the cluster does not answer: {state.unreachable}",
            found="no answer",
            allowed="an answer of one bootstrap server",
            next_step=f"look at the processes and logs of the nodes, then: {_SITE}",
        )


def broker_down(state: State, _limits: Limits) -> Iterator[Finding]:
    """Find brokers of the inventory that are fenced or not registered; without an inventory those that are fenced."""
    fenced = {broker["id"]: broker["fenced"] for broker in _info(state)["nodes"]}
    wanted = {node["node_id"]: node["host"] for node in state.nodes if "broker" in node["roles"]}
    for node_id in wanted if state.nodes else fenced:
        if fenced.get(node_id, True):
            name = f"{wanted[node_id]} (id {node_id})" if state.nodes else str(node_id)
            yield Finding(
                "broker_down",
                SERIOUS,
                f"broker {name} is down",
                found="fenced" if node_id in fenced else "not registered",
                allowed="registered and not fenced",
                next_step=f"look at the log of this broker, then: {_SITE}",
            )


def broker_cut_off(state: State, _limits: Limits) -> Iterator[Finding]:
    """Find brokers that lead partitions which their live followers cannot copy, and so are low because of them."""
    for node_id, phrase in sorted(state.cut_off.items()):
        where = next((_address(node) for node in state.nodes if node["node_id"] == node_id), "")
        yield Finding(
            "broker_cut_off",
            SERIOUS,
            f"{phrase} ({state.name(node_id)}{where})",
            found="followers that copy from every other leader",
            allowed="followers that copy from this one too",
            next_step="see that its listener between brokers answers there (address, firewall, certificates, login), "
            f"then: {_SITE}, which restarts it first when its files change",
        )


def _address(node: Mapping[str, Any]) -> str:
    """Return where a node of the inventory says that other brokers reach it, behind its name; empty if unknown."""
    return f" at {node['replication']}" if node.get("replication") else ""


def ghost_broker(state: State, _limits: Limits) -> Iterator[Finding]:
    """Find registered brokers that the inventory does not have: no run upgrades, restarts or watches them."""
    known = {node["node_id"] for node in state.nodes if "broker" in node["roles"]}
    for broker in _info(state)["nodes"] if known else ():
        if broker["id"] in known:
            continue
        if broker["fenced"]:
            fix = f"move its replicas away, then the module broker_registration: broker {broker['id']}, unregistered"
        else:
            fix = "add it to the inventory, or drain_and_remove_broker.yml with an inventory that has it"
        yield Finding(
            "ghost_broker",
            SERIOUS,
            f"broker {broker['id']} is registered and not in the inventory",
            found="registered and fenced" if broker["fenced"] else "registered and alive",
            allowed="the brokers of the inventory",
            next_step=fix,
        )


def quorum_unsteady(state: State, _limits: Limits) -> Iterator[Finding]:
    """Find a quorum whose leader does not last, as its controllers see it: nothing in the cluster can be changed, and
    no leader moves. Brokers serve what they lead until one of them stops, so by itself this is not down."""
    if state.unsteady:
        seen, changed = state.unsteady, "; ".join(state.unsteady["changed"])
        yield Finding(
            "quorum_unsteady",
            SERIOUS,
            "the metadata quorum has no stable leader",
            found=f"{seen['epochs']} on {capped(list(seen['controllers']), SHOWN)}",
            allowed="one leader that lasts",
            next_step="look at what changed last on the controllers "
            f"({changed or 'limits of connections, timeouts, listeners'}), at the load of their machines and at the "
            f"network between them; correct the inventory, then: {_SITE}",
        )


def no_controller(state: State, _limits: Limits) -> Iterator[Finding]:
    """Find a cluster without an active controller, or of whose quorum nothing is known (kind quorum_unknown)."""
    info = _info(state)
    quorum = info.get("quorum")
    if state.unsteady:
        # Then quorum_unsteady says why nobody was asked.
        return
    if quorum and quorum.get("error"):
        yield Finding(
            "quorum_unknown",
            SERIOUS,
            f"the metadata quorum could not be asked ({quorum['error']})",
            found="no answer of the active controller",
            allowed="an answer",
            next_step="look at the logs of the controllers",
        )
    elif info["controller_id"] is None or (quorum and quorum["leader_id"] is None):
        yield Finding(
            "no_controller",
            FATAL,
            "there is no active controller",
            found="none",
            allowed="one",
            next_step=f"start a majority of the controllers: {_SITE}",
        )


def controller(state: State, limits: Limits) -> Iterator[Finding]:
    """Find controllers of the inventory that are no voters (controller_no_voter) or behind (controller_behind), and
    voters that the inventory does not have (ghost_voter). In ZooKeeper mode there are none of these."""
    quorum = _quorum(state)
    if quorum is None:
        return
    ages = {voter["id"]: voter["last_caught_up_ms_ago"] for voter in quorum["voters"]}
    wanted = {node["node_id"]: node["host"] for node in state.nodes if "controller" in node["roles"]}
    for node_id in wanted if state.nodes else ages:
        name = f"controller {wanted[node_id]} (id {node_id})" if state.nodes else f"controller {node_id}"
        if node_id not in ages:
            what, fix = f"{name} is no voter", f"look at the log of this controller, then: {_SITE}"
            yield Finding("controller_no_voter", SERIOUS, what, "not in the quorum", "a voter", fix)
        elif _is_behind(ages[node_id], limits):
            yield Finding(
                "controller_behind",
                SERIOUS,
                f"{name} is down or behind the quorum",
                _behind(ages[node_id]),
                f"at most {limits.max_quorum_lag} s",
                f"look at the log of this controller, then: {_SITE}",
            )
    for node_id in sorted(set(ages) - set(wanted)) if wanted else ():
        yield Finding(
            "ghost_voter",
            SERIOUS,
            f"controller {node_id} is a voter and not in the inventory",
            found="a voter",
            allowed="the controllers of the inventory",
            next_step=f"add it to the inventory, or the module quorum_voter: node_id {node_id}, state absent",
        )


def observer_behind(state: State, limits: Limits) -> Iterator[Finding]:
    """Find brokers that are alive and read the metadata too late: they act on leaders and topics of before."""
    quorum = _quorum(state)
    alive = {broker["id"] for broker in _info(state)["nodes"] if not broker["fenced"]}
    members = quorum_from(quorum).members if quorum else {}
    # Of voters says the rule on controllers.
    voters = {voter["id"] for voter in quorum["voters"]} if quorum else set()
    for node_id in sorted(alive & members.keys() - voters):
        age = members[node_id].last_caught_up_ms_ago
        if _is_behind(age, limits):
            yield Finding(
                "observer_behind",
                SERIOUS,
                f"{state.name(node_id)} is behind the metadata of the quorum",
                found=_behind(age),
                allowed=f"at most {limits.max_quorum_lag} s",
                next_step="look at the log of this broker, and at its connection to the controllers",
            )


def ensemble(state: State, _limits: Limits) -> Iterator[Finding]:
    """Pass on what zookeeper_info found of the ensemble of a cluster in ZooKeeper mode."""
    for problem in state.ensemble:
        yield Finding(
            "ensemble",
            SERIOUS,
            problem,
            found="see there",
            allowed="every server serves and follows one leader",
            next_step=f"look at the log of this server, then: {_SITE}",
        )


def partitions(state: State, _limits: Limits) -> Iterator[Finding]:
    """Find partitions without a leader (partitions_offline), below min.insync.replicas (under_min_isr) and with
    replicas that are not in sync (under_replicated): Kafka's metrics of these names."""
    counts = _info(state)["counts"]
    for key, kind, severity, words, fix in (
        ("offline", "partitions_offline", FATAL, "without a leader", "start the brokers that hold their replicas"),
        (
            "under_min_isr",
            "under_min_isr",
            SERIOUS,
            "below min.insync.replicas",
            "see broker_cut_off: until then acks=all is refused"
            if state.cut_off
            else "start the brokers that are missing: until then acks=all is refused",
        ),
        ("under_replicated", "under_replicated", SERIOUS, "under-replicated", "see the findings on brokers and disks"),
    ):
        if counts.get(key):
            what = f"{counts[key]} of {counts['partitions']} partitions {words}"
            yield Finding(kind, severity, what, str(counts[key]), "0", fix)


def at_min_isr(state: State, _limits: Limits) -> Iterator[Finding]:
    """Find partitions that would refuse acks=all if one more replica were lost, unless they were made so: a topic whose
    replication factor is its min.insync.replicas is so at its best, which the preflight judges."""
    info = _info(state)
    close = [one for one in info.get("at_min_isr", ()) if len(one["isr"]) < len(one["replicas"])]
    if close:
        yield Finding(
            "at_min_isr",
            SERIOUS,
            f"{len(close)} of {info['counts']['partitions']} partitions at min.insync.replicas",
            found=str(len(close)),
            allowed="0",
            next_step="restart no other broker before the replicas are in sync (module isr_wait)",
        )


def leaders_skewed(state: State, limits: Limits) -> Iterator[Finding]:
    """Find brokers whose preferred partitions other brokers lead."""
    for broker in _info(state)["nodes"]:
        share = broker.get("imbalance_percent") or 0
        if share > limits.max_imbalance_percent and not broker["fenced"]:
            name = state.name(broker["id"])
            yield Finding(
                "leaders_skewed",
                SERIOUS,
                f"leaders are skewed: other brokers lead {share:.0f} % of the preferred partitions of {name}",
                found=f"{share:.0f} %",
                allowed=f"at most {limits.max_imbalance_percent:g} %",
                next_step="the module leader_election, once its replicas are in sync",
            )


def disk_full(state: State, limits: Limits) -> Iterator[Finding]:
    """Find disks of log directories that run out; one finding a broker."""
    for broker in _info(state)["nodes"]:
        for disk in broker.get("log_dirs") or ():
            total, usable = disk.get("total_bytes"), disk.get("usable_bytes")
            if not total or usable is None:
                continue
            least = min(limits.min_disk_free * total, limits.enough_disk_free_bytes)
            if usable < least:
                yield Finding(
                    "disk_full",
                    SERIOUS,
                    f"disk of {state.name(broker['id'])} is {100 * (1 - usable / total):.0f} % full",
                    found=f"{usable / 1000**3:.1f} GB free",
                    allowed=f"at least {least / 1000**3:.1f} GB free",
                    next_step=f"shorten retention, add disks, or: {_BALANCE}",
                )
                break


def log_dir_offline(state: State, _limits: Limits) -> Iterator[Finding]:
    """Find log directories that failed: their broker runs on without the replicas in them (KIP-112)."""
    for broker, paths in sorted(state.failed_log_dirs.items()):
        if paths:
            yield Finding(
                "log_dir_offline",
                SERIOUS,
                f"log directory {capped(list(paths), SHOWN)} of {state.name(broker)} is offline",
                found="KAFKA_STORAGE_ERROR",
                allowed="every log directory online",
                next_step="look at the kernel log of its machine, replace the disk, then restart the broker",
            )


def throttle_left(state: State, _limits: Limits) -> Iterator[Finding]:
    """Find throttles of replication without a move that they are for: replicas that fall behind stay behind."""
    if state.moving or state.recorded:
        return
    by_name: dict[tuple[str, str], list[str]] = {}
    for one in state.throttles:
        by_name.setdefault((one["kind"], one["name"]), []).append(f"{one['key']}={one['value']}")
    for (kind, name), values in sorted(by_name.items()):
        keys = ",".join(value.partition("=")[0] for value in values)
        yield Finding(
            "throttle_left",
            SERIOUS,
            f"a throttle was left on {kind} {name}",
            found=capped(values, SHOWN),
            allowed="no throttle without a move",
            next_step=f"kafka-configs.sh --alter --entity-type {kind}s --entity-name {name} --delete-config {keys}",
        )


def move(state: State, _limits: Limits) -> Iterator[Finding]:
    """Find moves of replicas that run (move_running, a note), or that a run has left unfinished (move_left)."""
    if state.moving:
        yield Finding(
            "move_running",
            NOTE,
            f"{len(state.moving)} partition(s) are being moved",
            found=capped(list(state.moving), SHOWN),
            allowed="none, unless a run moves them",
            next_step="wait; if no run is active, the module reassignment with state: finished",
        )
    elif state.recorded is not None:
        yield Finding(
            "move_left",
            SERIOUS,
            "a move of replicas was left unfinished"
            if state.recorded
            else "a move of replicas has ended and left settings of throttles to restore",
            found=f"the record of {state.recorded} partitions in the topic _streamops_state",
            allowed="no record once a move has ended",
            next_step="start the same playbook again, or the module reassignment with state: finished or cancelled",
        )


def certificate_ends(state: State, limits: Limits) -> Iterator[Finding]:
    """Find listeners whose certificate ends soon, has ended, or could not be read."""
    for broker, seen in sorted(state.certificates.items()):
        name, days = f"{state.name(broker)} ({seen['server']})", seen["days_left"]
        if days is not None and days >= limits.min_certificate_days:
            continue
        if days is None:
            what, found = f"the certificate of {name} could not be read: {seen['error']}", "unknown"
        elif days < 0:
            what, found = f"the certificate of {name} has expired", "expired"
        else:
            what, found = f"the certificate of {name} ends in {days} days", f"{days} days"
        yield Finding(
            "certificate_ends",
            SERIOUS,
            what,
            found,
            allowed=f"at least {limits.min_certificate_days} days",
            next_step=f"renew kafka_tls_certificate_file where the nodes have their own, then: {_SITE}",
        )


def known_vulnerability(state: State, _limits: Limits) -> Iterator[Finding]:
    """Note vulnerabilities of the versions that run, as far as an upgrade to the newest version of our table ends them.
    What no version ends yet, the preflight warns of, with what helps."""
    newest = newest_listed()
    open_still = {one.cve for one in of_version(newest, state.mechanisms)}
    hosts: dict[str, list[str]] = {}
    for host, version in state.versions.items():
        if version:
            hosts.setdefault(version, []).append(host)
    for version, on in sorted(hosts.items()):
        mended = [one.cve for one in of_version(version, state.mechanisms) if one.cve not in open_still]
        if mended:
            yield Finding(
                "known_vulnerability",
                NOTE,
                f"Kafka {version} on {capped(on, SHOWN)} has known vulnerabilities: {capped(mended, SHOWN)}",
                found=version,
                allowed=f"a version without them, such as {newest}",
                next_step=f"set kafka_version to {newest} or later, then: {_SITE}",
            )


def start_files(state: State, _limits: Limits) -> Iterator[Finding]:
    """Note start files that a node did not come back with, that wait for its restart, or that people changed."""
    yield from of_start_files(state.start_files)


def of_start_files(by_host: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    """Note the same of any hosts, also of those that no cluster knows; start_files as node_info returns them."""
    files = sorted(by_host.items())
    for host, seen in files:
        if seen["failed"]:
            why = (seen["why_failed"].splitlines() or ["unknown"])[0]
            yield Finding(
                "start_files_failed",
                NOTE,
                f"{host} did not come back with its last new start files and runs with those from before: {why}",
                found=seen["failed"],
                allowed="none",
                next_step=f"correct the values, then: {_SITE}",
            )
    if waiting := [host for host, seen in files if seen["staged"]]:
        yield Finding(
            "start_files_staged",
            NOTE,
            f"new start files wait for the restart of {capped(waiting, SHOWN)}",
            found=f"{len(waiting)} node(s)",
            allowed="none",
            next_step=_SITE,
        )
    for host, seen in files:
        if seen["edited"]:
            yield Finding(
                "start_files_edited",
                NOTE,
                f"start files of {host} were edited or removed by hand: {capped(seen['edited'], SHOWN)}",
                found=f"{len(seen['edited'])} file(s)",
                allowed="none",
                next_step=f"put the change into the inventory, since a run replaces these files: {_SITE}",
            )


def untold(state: State, _limits: Limits) -> Iterator[Finding]:
    """Find questions that had no answer: what they are about is unknown, which is not the same as well."""
    for question in state.untold:
        yield Finding(
            "untold",
            SERIOUS,
            f"unknown: {question}",
            found="no answer",
            allowed="an answer",
            next_step="run it again; if this stays, look at the log of the broker that is named",
        )


#: The rules on a cluster that answers, in the order of their findings.
RULES: tuple[Callable[[State, Limits], Iterator[Finding]], ...] = (
    broker_down,
    broker_cut_off,
    ghost_broker,
    quorum_unsteady,
    no_controller,
    controller,
    observer_behind,
    ensemble,
    partitions,
    at_min_isr,
    leaders_skewed,
    disk_full,
    log_dir_offline,
    throttle_left,
    move,
    certificate_ends,
    known_vulnerability,
    start_files,
    untold,
)
#: What a finding may be.
KINDS = (
    "cluster_unreachable",
    "broker_down",
    "broker_cut_off",
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
    "leaders_skewed",
    "disk_full",
    "log_dir_offline",
    "throttle_left",
    "move_running",
    "move_left",
    "certificate_ends",
    "known_vulnerability",
    "start_files_failed",
    "start_files_staged",
    "start_files_edited",
    "untold",
)


def _info(state: State) -> Mapping[str, Any]:
    """Return what cluster_info found; rules on it run only where the cluster answered."""
    if state.info is None:
        raise AssertionError("a rule on a cluster that did not answer")
    return state.info


def _quorum(state: State) -> Mapping[str, Any] | None:
    """Return the quorum as far as it is known."""
    quorum: Mapping[str, Any] | None = _info(state).get("quorum")
    return None if quorum is None or quorum.get("error") else quorum


def _is_behind(age: int | None, limits: Limits) -> bool:
    """Return whether a member that caught up so many milliseconds ago (None: never) is behind."""
    return age is None or age > limits.max_quorum_lag * 1000


def _behind(age: int | None) -> str:
    """Return how long ago a member has caught up."""
    return "never caught up" if age is None else f"caught up {age // 1000} s ago"
