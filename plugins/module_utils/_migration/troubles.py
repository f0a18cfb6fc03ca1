# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Named states in which a migration to KRaft cannot go on or back, each with its fix. Pure.

A trouble blocks the next step, the way back, both, or neither: then it is only told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .._core.cves import numbers
from .._core.names import capped
from . import hand_over
from .model import MIGRATION, NONE, POST_MIGRATION, PRE_MIGRATION, ClusterLook, NodeLook, hosts
from .modes import BROKER, CONTROLLER, KRAFT, MIGRATING, PROTOCOL, ZOOKEEPER
from .phase import CREATED_IN_KRAFT, UNKNOWN, ZOOKEEPER_GONE, Phase

#: The only release that this collection migrates with: the last one with ZooKeeper, with its latest fixes (KIP-866).
RELEASE, BRIDGE = "3.9.2", (3, 9)
FORWARD, BACK = "forward", "back"
_BOTH = (FORWARD, BACK)
#: The znodes that the way back changes, and the one in which it deletes them.
_HANDED_OVER = ("/", hand_over.CONTROLLER, hand_over.EPOCH, hand_over.COPY)


@dataclass(frozen=True)
class Trouble:
    """A state by its name: what was seen, the fix, and the directions that are blocked until then."""

    name: str
    what: str
    fix: str
    blocks: tuple[str, ...] = _BOTH

    def __str__(self) -> str:
        return f"{self.what}. fix: {self.fix}"


#: Looks for one state.
Check = Callable[[ClusterLook], Iterator[Trouble]]
_CHECKS: list[Check] = []


def _check(check: Check) -> Check:
    """Add a check to those of every look."""
    _CHECKS.append(check)
    return check


def troubles_of(look: ClusterLook, phase: Phase) -> tuple[Trouble, ...]:
    """Return the named states of a cluster, those that block most first."""
    if phase.name == CREATED_IN_KRAFT:
        return ()
    checks = [_brokers_left_behind] if phase.name == ZOOKEEPER_GONE else _CHECKS
    troubles = [trouble for check in checks for trouble in check(look)]
    if phase.name == UNKNOWN and not troubles:
        troubles.append(
            Trouble("nothing_tells", "no broker and no controller tells its mode", "start the nodes, and look again")
        )
    return tuple(sorted(troubles, key=lambda trouble: -len(trouble.blocks)))


# -- what does not tell --------------------------------------------------------------------------------------------


@_check
def _nodes_that_do_not_tell(look: ClusterLook) -> Iterator[Trouble]:
    silent = [node for node in look.controllers if node.silence]
    if silent:
        what = f"controller {hosts(silent)} does not answer ({silent[0].silence}), so it may still run"
        yield Trouble("controller_silent", what, "mend the connection to its machine, and look again")
    # A controller without a log is one that the next step starts.
    stopped = [node for node in look.controllers if not node.running and not node.silence and node.log is not None]
    if stopped:
        what = f"controller {hosts(stopped)} is down: its process does not run"
        yield Trouble("controller_down", what, "start it, and look again", (FORWARD,))
    away = [node for node in look.brokers if not node.answers]
    if away:
        why = next((node.silence for node in away if node.silence), "its process does not run")
        what = f"broker {hosts(away)} is down ({why}), which counts as a broker that has not done the last step"
        yield Trouble("broker_down", what, "start it, and look again", (FORWARD,))
    unread = [node for node in look.controllers if node.unread]
    if unread:
        what = f"the metadata log of controller {hosts(unread)} could not be read: {unread[0].unread}"
        yield Trouble("log_unread", what, "run as the user that runs Kafka or as root")
    denied = [node for node in look.nodes if node.record_unread]
    if denied:
        what = f"the start record of {hosts(denied)} could not be read: {denied[0].record_unread}"
        yield Trouble("record_unread", what, "run as the user that runs Kafka or as root", (FORWARD,))
    unrecorded = [node for node in look.nodes if node.answers and node.started is None and not node.record_unread]
    if unrecorded:
        what = f"{hosts(unrecorded)} runs without a start record, so the mode that it was started in is not known"
        yield Trouble("not_recorded", what, "restart it with site.yml before the next step", (FORWARD,))


@_check
def _ensemble_that_does_not_tell(look: ClusterLook) -> Iterator[Trouble]:
    ensemble = look.ensemble
    if ensemble.znodes is None and ensemble.servers and look.state != POST_MIGRATION:
        why = ensemble.unread or f"{ensemble.serving} of {ensemble.servers} servers serve"
        fix = "mend the ensemble, and look again"
        if 2 * ensemble.serving > ensemble.servers:
            fix = "set zookeeper_tls, zookeeper_user and zookeeper_password as the brokers have them, and look again"
        yield Trouble("znodes_unread", f"the znodes are not known: {why}", fix)


@_check
def _quorum_without_majority(look: ClusterLook) -> Iterator[Trouble]:
    formed = [node for node in look.controllers if node.log is not None]
    running = [node for node in formed if node.answers]
    if formed and 2 * len(running) <= len(look.controllers):
        what = f"{len(running)} of {len(look.controllers)} controllers run, which is no majority"
        # Brokers of KRaft cannot return without one; of other phases the way back stops the controllers anyway.
        blocks = (FORWARD,) if all(look.registered.values()) and look.state != POST_MIGRATION else _BOTH
        yield Trouble("no_quorum", what, "start the other controllers", blocks)


# -- what was decided before ---------------------------------------------------------------------------------------


@_check
def _other_release(look: ClusterLook) -> Iterator[Trouble]:
    others = [node for node in look.nodes if node.release and node.release != RELEASE]
    if others and look.state != POST_MIGRATION:
        releases = ", ".join(sorted({node.release for node in others}))
        what = f"{hosts(others)} runs Kafka {releases}; the migration needs {RELEASE} on every node"
        yield Trouble("other_release", what, f"bring every node to {RELEASE} with upgrade.yml", (FORWARD,))


@_check
def _old_protocol(look: ClusterLook) -> Iterator[Trouble]:
    old = [node for node in look.brokers if node.mode in (ZOOKEEPER, MIGRATING) and _is_old(node)]
    if old:
        what = f"broker {hosts(old)} was started with {PROTOCOL} below 3.9, so KRaft does not register it"
        yield Trouble("old_protocol", what, f"remove {PROTOCOL} from kafka_config, then run site.yml", (FORWARD,))


def _is_old(node: NodeLook) -> bool:
    """Tell whether the protocol that a broker was started with is below 3.9; without one it is that of the release."""
    # Such as 3.9-IV0.
    version = numbers((node.started or {}).get(PROTOCOL, "").partition("-")[0])
    return bool(version) and version < BRIDGE


@_check
def _combined(look: ClusterLook) -> Iterator[Trouble]:
    both = {BROKER, CONTROLLER}
    combined = [node for node in look.nodes if both <= node.roles or both <= node.started_roles]
    if combined and look.state != POST_MIGRATION:
        what = f"{hosts(combined)} is a broker and a controller; a migration has isolated controllers only (KIP-866)"
        yield Trouble("combined", what, "give the controllers hosts of their own in kraft_controllers", (FORWARD,))


@_check
def _shared_ids(look: ClusterLook) -> Iterator[Trouble]:
    brokers = look.broker_ids
    shared = [node for node in look.controllers if node.id in brokers and BROKER not in node.roles]
    if shared:
        what = f"controller {hosts(shared)} has the id of a broker"
        yield Trouble("shared_ids", what, "give each controller a kafka_node_id that no broker has", (FORWARD,))
    uses = Counter(node.id for node in look.controllers)
    same = [node for node in look.controllers if uses[node.id] > 1]
    if same:
        what = f"controllers {hosts(same)} have the same id"
        yield Trouble("same_ids", what, "give each controller a kafka_node_id of its own", (FORWARD,))


# -- controllers ---------------------------------------------------------------------------------------------------


@_check
def _controllers_without_flag(look: ClusterLook) -> Iterator[Trouble]:
    without = [node for node in look.controllers if node.started is not None and not node.flagged]
    if look.state == NONE and any(look.mode_of(broker) in (ZOOKEEPER, MIGRATING) for broker in look.broker_ids):
        what = "the controllers were first started without the migration flag, so no migration begins from their log"
        fix = "stop them, set their metadata directories aside, format them again, and start them with the flag"
        yield Trouble("controllers_without_flag", what, fix, (FORWARD,))
    elif without and look.state in ("", PRE_MIGRATION):
        what = f"controller {hosts(without)} was started without the migration flag"
        yield Trouble("controllers_without_flag", what, "restart it with the flag before the next step", (FORWARD,))
    elif without and look.state == MIGRATION:
        what = f"controller {hosts(without)} runs without the migration flag: once it leads, the migration is finalised"
        fix = "restart it with the flag to keep the way back; restart the others without it to finalise"
        yield Trouble("finalises_when_it_leads", what, fix, ())


@_check
def _controllers_that_never_started(look: ClusterLook) -> Iterator[Trouble]:
    """Look for controllers that a run which was killed has not begun, or that lost their disks."""
    if not look.state:
        return
    bare = [node for node in look.controllers if node.log is None and not node.silence and not node.unread]
    if bare:
        what = f"controller {hosts(bare)} has no metadata log, and the others have begun"
        yield Trouble("controller_missing", what, "run site.yml, which starts it", (FORWARD,))


@_check
def _controllers_that_keep_the_flag(look: ClusterLook) -> Iterator[Trouble]:
    """Look for controllers that still have ZooKeeper's address, and would wait for an ensemble that is gone."""
    flagged = [node for node in look.controllers if node.answers and node.flagged]
    if flagged and look.state == POST_MIGRATION:
        what = f"controller {hosts(flagged)} runs with the migration flag, and the migration is finalised"
        yield Trouble("flag_left", what, "run site.yml, which restarts it without the flag", (FORWARD,))


@_check
def _logs_differ(look: ClusterLook) -> Iterator[Trouble]:
    behind = [node for node in look.controllers if node.log is not None and node.log.state != look.state]
    if behind:
        what = f"the log of controller {hosts(behind)} is behind: it does not have the state {look.state}"
        yield Trouble("state_differs", what, "wait until it has caught up, and look again", (FORWARD,))


# -- brokers -------------------------------------------------------------------------------------------------------


@_check
def _brokers_out_of_step(look: ClusterLook) -> Iterator[Trouble]:
    running = [node for node in look.brokers if node.answers]
    by_mode = {mode: [node for node in running if node.mode == mode] for mode in (ZOOKEEPER, MIGRATING, KRAFT)}
    if look.state == MIGRATION and by_mode[ZOOKEEPER]:
        what = f"broker {hosts(by_mode[ZOOKEEPER])} was restarted without the migration flag during the dual write"
        yield Trouble("broker_without_flag", what, "restart it with the flag", (FORWARD,))
    if look.state in ("", PRE_MIGRATION) and by_mode[KRAFT]:
        what = f"broker {hosts(by_mode[KRAFT])} was started in KRaft mode before the metadata was copied"
        yield Trouble("broker_too_early", what, "start it in ZooKeeper mode with the migration flag again")
    if not look.state and by_mode[MIGRATING]:
        what = f"broker {hosts(by_mode[MIGRATING])} has the migration flag, but no controller has begun a migration"
        yield Trouble("broker_flag_without_controllers", what, "start the controllers, or remove the flag", ())
    if look.state in (PRE_MIGRATION, MIGRATION):
        missing = [node for node in by_mode[MIGRATING] + by_mode[KRAFT] if not _is_registered(look, node)]
        if missing:
            what = f"broker {hosts(missing)} runs, but KRaft has not registered it as it was started"
            fix = f"check {PROTOCOL}, the port of the controllers, TLS names and the migration flag, in this order"
            yield Trouble("not_registered", what, fix, (FORWARD,))


def _is_registered(look: ClusterLook, node: NodeLook) -> bool:
    return look.registered.get(node.id) is (node.mode == MIGRATING)


@_check
def _sessions_of_moved_brokers(look: ClusterLook) -> Iterator[Trouble]:
    """Look for brokers of KRaft that are in ZooKeeper too: finalising would shut such a process out (KAFKA-20960)."""
    moved = sorted(broker for broker in look.with_session if look.registered.get(broker) is False)
    if moved and look.state == MIGRATION:
        what = f"broker {_ids(moved)} is registered as a broker of KRaft, and still has a session in ZooKeeper"
        fix = "wait until the session has ended (zookeeper.session.timeout.ms); else stop the second process of it"
        yield Trouble("session_left", what, fix, (FORWARD,))


@_check
def _brokers_left_behind(look: ClusterLook) -> Iterator[Trouble]:
    """Look for brokers that finalising has shut out (KAFKA-20960)."""
    if look.state != POST_MIGRATION:
        return
    left = sorted(broker for broker in look.broker_ids if look.mode_of(broker) in (ZOOKEEPER, MIGRATING))
    if left:
        what = f"broker {_ids(left)} was still a broker of ZooKeeper when the migration was finalised (KAFKA-20960)"
        yield Trouble("left_behind", what, "start it in KRaft mode with its data, and keep ZooKeeper until it is back")


@_check
def _brokers_that_cannot_return(look: ClusterLook) -> Iterator[Trouble]:
    """Look for brokers whose disks were formatted for KRaft: one that was added or replaced on the way (KIP-1362).

    A broker in ZooKeeper mode refuses such a directory, and only once it has lost the migration flag (KAFKA-20762).
    """
    bound = [node for node in look.brokers if node.kraft_dirs]
    if bound and look.state != POST_MIGRATION:
        dirs = capped([path for node in bound for path in node.kraft_dirs or ()])
        what = (
            f"broker {hosts(bound)} has directories that were formatted for KRaft ({dirs}; version 1 in "
            "meta.properties), so it cannot go back to ZooKeeper (KIP-1362)"
        )
        fix = "go on; or first move its partitions away, remove it from the cluster, and add it anew after the way back"
        yield Trouble("bound_to_kraft", what, fix, (BACK,))


@_check
def _brokers_without_a_host(look: ClusterLook) -> Iterator[Trouble]:
    strangers = look.broker_ids - {node.id for node in look.brokers}
    if strangers:
        what = f"broker {_ids(sorted(strangers))} is registered, and missing in the inventory"
        fix = "add it to kafka_brokers, or stop and unregister it"
        if look.state in (PRE_MIGRATION, MIGRATION) and strangers & set(look.registered):
            # Brokers in ZooKeeper mode do not take UnregisterBroker (UnregisterBrokerRequest.json). Controllers do,
            # before the copy too (QuorumController.unregisterBroker: RUNS_IN_PREMIGRATION).
            fix += " at a controller: kafka-cluster.sh unregister --bootstrap-controller HOST:PORT --id ID"
        yield Trouble("unknown_broker", what, fix, (FORWARD,))


# -- znodes --------------------------------------------------------------------------------------------------------


@_check
def _migration_left(look: ClusterLook) -> Iterator[Trouble]:
    """Look for a copy that an earlier try completed: controllers would write their empty log to ZooKeeper
    (strimzi#11262)."""
    znodes = look.ensemble.znodes
    if znodes and znodes.migration and look.state not in (MIGRATION, POST_MIGRATION):
        if znodes.migration.is_copied:
            what = "znode /migration is left from an earlier try: the copy would be skipped and the cluster emptied"
            fix = "stop the controllers, then read and delete /migration before any controller starts"
            yield Trouble("migration_left", what, fix, (FORWARD,))
        elif not look.state:
            what = "znode /migration is left from controllers that copied nothing"
            yield Trouble("migration_left_empty", what, "it may stay, or be deleted while no controller runs", ())


@_check
def _wrong_controller(look: ClusterLook) -> Iterator[Trouble]:
    znodes = look.ensemble.znodes
    if znodes is None:
        return
    if look.goes_back:
        who = "no one" if znodes.controller is None else f"broker {znodes.controller}"
        what = f"znode /controller names {who} although the metadata is in KRaft: a way back was begun and not ended"
        fix = "start no controller, and run with kafka_migration=back, which goes on where it ended"
        yield Trouble("half_way_back", what, fix, (FORWARD,))
    if not look.state and znodes.kraft_epoch >= 0:
        what = f"znode /controller names node {znodes.controller} of KRaft, and no log of the inventory knows of it"
        fix = "add the controllers to the inventory; where they are gone for good, delete /controller, then /migration"
        yield Trouble("controller_left", what, fix)


@_check
def _epoch_above(look: ClusterLook) -> Iterator[Trouble]:
    """Compare the epochs, as Kafka's page does before a way back (KAFKA-20488): ZooKeeper's has to be greater."""
    znodes, epoch = look.ensemble.znodes, look.epoch
    if znodes is None or znodes.epoch is None or look.state != MIGRATION:
        return
    if epoch >= znodes.epoch:
        what = (
            f"the epoch of the KRaft quorum is {epoch}, /controller_epoch is {znodes.epoch}: brokers that went back "
            "would ignore the controller of ZooKeeper, and partitions would go offline (KAFKA-20488)"
        )
        fix = f"on the way back set /controller_epoch to {epoch + 1} after the controllers stopped"
        yield Trouble("epoch_above", what, fix, ())


@_check
def _znodes_of_others(look: ClusterLook) -> Iterator[Trouble]:
    """Look for znodes that the login of the controllers may not change, or not even read (NoAuthException).

    Controllers that meet them stand still within the copy, and those that are stopped on the way back leave nobody in
    charge until those of _HANDED_OVER change.
    """
    denied = look.ensemble.denied
    if not denied or look.state == POST_MIGRATION:
        return
    forward = (FORWARD,) if look.state != MIGRATION else ()
    back = (BACK,) if set(_HANDED_OVER) & set(denied) else ()
    what = f"the login of the inventory may not read and change {len(denied)} znodes of the cluster: {capped(denied)}"
    fix = (
        "set zookeeper_user and zookeeper_password as the brokers have them, or let the login that made these znodes "
        "give all rights to that of the brokers (setAcl), and look again"
    )
    yield Trouble("znodes_denied", what, fix, (*forward, *back))


def _ids(ids: list[int]) -> str:
    return capped([str(number) for number in ids])
