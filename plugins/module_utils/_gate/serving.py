# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Can others use a broker that leads? What the followers of its partitions say, and what is written to it.

A broker may be alive, with every replica of its own in sync, and still serve none of the others: it copies from them,
and they cannot copy from it (it advertises an address where nothing listens, a firewall drops one direction, they may
not log in). Its own replicas never show that. The ISR of what it leads does, and so do records that it has and that are
never committed, since every replica of the ISR must have copied them first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Key, Partition


def cut_off(
    partitions: Iterable[Partition], alive: Collection[int], leader: int, in_doubt: bool = False
) -> dict[Key, list[int]]:
    """Return by partition that a broker leads the live followers that are not in its ISR because of the leader.

    A follower that is out of sync because of itself (it catches up, it is slow) is so with every leader. One that is in
    sync with all that some other broker leads cannot copy from this one. Where no other broker leads a replica of the
    follower, as with two brokers, nothing tells the two apart: C(in_doubt) names these followers too.
    """
    listed = list(partitions)
    led = [one for one in listed if one.leader == leader]
    lost = {follower for one in led for follower in _out_of_sync(one, alive)}
    unable = {follower for follower in lost if _copies_elsewhere(listed, follower, leader, in_doubt)}
    found = {(one.topic, one.index): [f for f in _out_of_sync(one, alive) if f in unable] for one in led}
    return {key: followers for key, followers in found.items() if followers}


def cut_off_brokers(partitions: Iterable[Partition], alive: Collection[int]) -> dict[int, dict[Key, list[int]]]:
    """Return what C(cut_off) finds of each live broker that it finds anything of."""
    listed = list(partitions)
    short = {one.leader for one in listed if one.leader in alive and _out_of_sync(one, alive)}
    found = {leader: cut_off(listed, alive, leader) for leader in sorted(short - {None}, key=str) if leader is not None}
    return {leader: keys for leader, keys in found.items() if keys}


def describe(leader: int, found: Mapping[Key, Collection[int]]) -> str:
    """Return what C(cut_off) found as a sentence without its end."""
    followers = sorted({follower for some in found.values() for follower in some})
    named = ", ".join(str(follower) for follower in followers)
    return f"broker {named} cannot copy from broker {leader}: out of the ISR of {len(found)} partition(s) that it leads"


def uncommitted(before: Mapping[Key, int], now: Mapping[Key, int]) -> list[Key]:
    """Return the partitions whose records of an earlier look are still not committed.

    C(before) is the end of each log in the earlier look, C(now) its high watermark in this one: what every replica of
    the ISR has.
    """
    return sorted(key for key, end in before.items() if key in now and now[key] < end)


def _out_of_sync(partition: Partition, alive: Collection[int]) -> list[int]:
    return [one for one in partition.replicas if one != partition.leader and one in alive and one not in partition.isr]


def _copies_elsewhere(partitions: Iterable[Partition], follower: int, leader: int, unknown: bool) -> bool:
    """Tell whether the follower is in sync with all that one other leader has of it; unknown without another one."""
    in_sync: dict[int, bool] = {}
    for one in partitions:
        if follower in one.replicas and one.leader not in (None, leader, follower):
            assert one.leader is not None
            in_sync[one.leader] = in_sync.get(one.leader, True) and follower in one.isr
    return any(in_sync.values()) if in_sync else unknown
