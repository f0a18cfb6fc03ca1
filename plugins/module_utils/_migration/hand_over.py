# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The hand-over from the controllers of KRaft back to ZooKeeper, as data: what is done, in which order. Pure.

1. All controllers stop. Until each is seen stopped nothing else is done: one that runs takes the controllership again.
2. The znodes change, in one transaction: /controller_epoch is raised, /controller is deleted, /migration is deleted. So
   a cut leaves all of it or nothing of it. What KRaft wrote there has no session and never goes away by itself.
3. The metadata log of each controller is set aside, before any broker restarts: with it a controller that starts again,
   by site.yml or with its machine, would go on with the migration, without the /migration that belongs to it.
4. Brokers restart without the flag (stages.py); the first one becomes the controller (KAFKA-16101).

Each is judged by what is there, so the same plan made again after a cut holds what is left.

Epochs: KRaft writes its own epoch into the state of each partition (ZkTopicMigrationClient), and a controller of
ZooKeeper gives up on a partition whose state has a greater epoch than its own, which is that of /controller_epoch plus
one. So /controller_epoch has to be above that of the quorum (KAFKA-20488, Kafka's documentation since May 2026). It is
never deleted: a later migration does not begin without it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .._core.errors import StreamopsError
from .model import MIGRATION, ClusterLook, MigrationZnode, NodeLook, Znodes

CONTROLLER, EPOCH, COPY = "/controller", "/controller_epoch", "/migration"
METADATA_TOPIC = "__cluster_metadata"

#: The JSON of each of these znodes by its path, None for one that does not exist.
Contents = dict[str, Any]

STOP, SET, DELETE, SET_ASIDE = "stop", "set", "delete", "set_aside"


@dataclass(frozen=True)
class Act:
    """One thing that a hand-over does.

    kind -- STOP of a controller, SET and DELETE of a znode, SET_ASIDE of a directory; host -- of STOP and SET_ASIDE;
    path -- the znode or the directory; value -- of SET the new content, of SET_ASIDE the new name; version -- of a
    znode the one that it must still have, None where it was not read yet; stopped -- the controllers that must be seen
    stopped right before
    """

    kind: str
    host: str = ""
    path: str = ""
    value: str = ""
    version: int | None = None
    stopped: tuple[str, ...] = ()

    def __str__(self) -> str:
        provided = "" if self.version is None else f" if its version is {self.version}"
        return {
            STOP: f"stop controller {self.host}",
            SET: f"set {self.path} {self.value}{provided}",
            DELETE: f"delete {self.path}{provided}",
            SET_ASIDE: f"set aside {self.path} -> {self.value} on {self.host}",
        }[self.kind]


class HandOverError(StreamopsError):
    """Says why the znodes may not be changed, and what to do; nothing was changed."""

    unsent = True


def znodes_of(contents: Contents, brokers: frozenset[int] = frozenset()) -> Znodes:
    """Return who is in charge; as Kafka's brokers and controllers write it (ZkData.scala)."""
    controller, copy = contents[CONTROLLER] or {}, contents[COPY]
    return Znodes(
        controller=controller.get("brokerid"),
        # Brokers before 3.4 wrote version 1, without it.
        kraft_epoch=controller.get("kraftControllerEpoch", -1),
        epoch=contents[EPOCH],
        migration=None
        if copy is None
        else MigrationZnode(copy["kraft_controller_id"], copy["kraft_controller_epoch"], copy["kraft_metadata_offset"]),
        brokers=brokers,
    )


def epoch_of_kraft(look: ClusterLook) -> int:
    """Return the epoch that /controller_epoch has to be above; 0 where KRaft was never in charge of the metadata."""
    return look.epoch if look.state == MIGRATION else 0


def changes(znodes: Znodes, quorum_epoch: int) -> tuple[Act, ...]:
    """Return what to do with the znodes, in its order; empty where all is as brokers of ZooKeeper need it.

    quorum_epoch -- the epoch of the quorum where it was in charge, 0 where it never was. Raises HandOverError where a
    broker is in charge already and the epoch is too low for it, or where there is no epoch to raise.
    """
    # The controllers may have become in charge after the look: then the epoch in /controller tells it.
    least = max(quorum_epoch, znodes.kraft_epoch)
    acts: list[Act] = []
    if least > 0 and (znodes.epoch is None or znodes.epoch <= least):
        if znodes.epoch is None:
            raise HandOverError(
                f"znode {EPOCH} does not exist, although KRaft was in charge in epoch {least}: this is not the path of "
                "the cluster, or somebody deleted it. Nothing was changed. fix: check zookeeper_chroot"
            )
        if znodes.controller is not None and znodes.kraft_epoch < 0:
            raise HandOverError(
                f"broker {znodes.controller} is in charge already (znode {CONTROLLER}), in epoch {znodes.epoch}, which "
                f"is not above epoch {least} of KRaft, so partitions stay offline (KAFKA-20488). Nothing was changed. "
                f"fix: set {EPOCH} to {least + 1} and delete {CONTROLLER} with zookeeper-shell.sh, so that the brokers "
                "elect anew; then run again"
            )
        acts.append(Act(SET, path=EPOCH, value=str(least + 1)))
    if znodes.kraft_epoch >= 0:
        acts.append(Act(DELETE, path=CONTROLLER))
    if znodes.migration is not None:
        acts.append(Act(DELETE, path=COPY))
    return tuple(acts)


def with_versions(acts: tuple[Act, ...], versions: Mapping[str, int]) -> tuple[Act, ...]:
    """Return changes of znodes that are carried out only where each still has the version that it was read with."""
    return tuple(replace(act, version=versions[act.path]) for act in acts)


def after(before: Contents, acts: tuple[Act, ...]) -> Contents:
    """Return the contents of the znodes after changes."""
    contents = dict(before)
    for act in acts:
        contents[act.path] = json.loads(act.value) if act.kind == SET else None
    return contents


def may_run(look: ClusterLook) -> tuple[NodeLook, ...]:
    """Return the controllers that are not stopped for certain.

    Stopped for certain is one whose machine says so; where it may not read the start record, it cannot say so.
    """
    return tuple(node for node in look.controllers if node.silence or node.running or node.record_unread)


def aside(directory: str, seconds: int) -> tuple[str, str]:
    """Return the metadata log below a directory, and the name that it is set aside to.

    seconds -- the time, since 1970. Kafka takes each directory below log.dirs for a partition, and passes over those of
    this topic alone (LogManager.loadLogs): so the number of the partition is what changes. It is no more than an int
    holds until 2038.
    """
    directory = directory.rstrip("/")
    return f"{directory}/{METADATA_TOPIC}-0", f"{directory}/{METADATA_TOPIC}-{seconds}"


def hand_over(look: ClusterLook, directories: Mapping[str, str], seconds: int) -> tuple[Act, ...]:
    """Return all that a hand-over does before the brokers restart; empty where it has been done.

    directories -- of each controller the one that holds its metadata log, by its host; seconds -- the time. Raises
    HandOverError as changes() does, and where the znodes were not read.
    """
    if look.ensemble.znodes is None:
        raise HandOverError("the znodes are not known. Nothing was changed. fix: mend the ensemble, and run again")
    stops = [Act(STOP, node.host) for node in may_run(look)]
    stopped = tuple(node.host for node in look.controllers)
    acts = list(changes(look.ensemble.znodes, epoch_of_kraft(look)))
    for node in look.controllers:
        # A process that runs may write its first record until it has stopped.
        if node.log is not None or node.running:
            path, name = aside(directories[node.host], seconds)
            acts.append(Act(SET_ASIDE, node.host, path, name))
    return (*stops, *(replace(act, stopped=stopped) for act in acts))
