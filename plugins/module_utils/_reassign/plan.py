# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""From a placement and a spec to a plan: the fewest moves that meet it, or every reason why it cannot be met.

1. What each partition must give up and get by itself (drained, replaced, replication factor, rack rule): never more
   moves than that partition needs.
2. When balance is asked for: every broker its share, by minimum-cost flow, and its share of every topic where that is
   asked for; of bytes, by what is near their bound.
3. Without any move more: topics spread (not where they are bounded, nor where bytes are level, which trades would
   change), leaders spread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from .._core.errors import RefusedError
from .balance import Leadership, balance, count_bound, direct, even_leaders, even_out
from .bytes import Fillers, Ledger, left_above, level
from .disk_room import Room
from .fitting import Fitting
from .flow import Flow
from .forced import Demands, Givers, asked, lagging_of, release, thin_changes
from .model import Bytes, Change, Cluster, Plan, Spec, Witness
from .racks import MOST_GROUPS, Racks, Share, bits, mask_of, shares_of, targets_of
from .spec import assigned, assignment_violations, brokers_of, receivers, shown, violations
from .state import Placement
from .topics import Topics, spread_topics


def plan_moves(cluster: Cluster, spec: Spec, room: Room | None = None) -> Plan:
    """The plan that meets a spec; raises RefusedError with every reason when it cannot be met.

    C(room): what the disks of brokers have room for, by id, which decides who gets what must be placed, of a spec that
    does not balance. Then loads are only as even as the search for room leaves them.
    """
    return _Planner(cluster, spec, room).plan()


def _refused(*reasons: str) -> RefusedError:
    return RefusedError("Reassignment", reasons)


def _refuse(reasons: Sequence[str]) -> None:
    if reasons:
        raise _refused(*reasons)


class _Planner:
    """One planning. Brokers are numbers here, places in C(brokers), which is ordered by id."""

    def __init__(self, cluster: Cluster, spec: Spec, room: Room | None = None) -> None:
        self.room = room
        self.cluster = cluster
        self.spec = spec
        self.brokers = brokers_of(cluster, spec)
        _refuse(violations(cluster, spec, self.brokers) + assignment_violations(cluster, spec, self.brokers))
        self.ids = [broker.id for broker in self.brokers]
        self.place = {broker: place for place, broker in enumerate(self.ids)}
        self.taking = [self.place[broker.id] for broker in receivers(self.brokers, spec)]
        self.weights = [Fraction(str(broker.weight)) for broker in self.brokers]
        self.placement = self._placement()
        self.demands = self._demands()
        self.reasons: dict[int, list[str]] = {}
        self.forced = 0
        self.shares: list[Share] = []
        self.topics: Topics | None = None
        self.ledger: Ledger | None = None
        if spec.balance_by == "bytes" and cluster.sizes is not None:
            self.ledger = Ledger(self.placement, cluster.sizes, self.weights)

    def _placement(self) -> Placement:
        racked = any(broker.rack for broker in self.brokers)
        names = sorted({broker.rack or "" for broker in self.brokers})
        number = {name: place for place, name in enumerate(names)}
        rule = self.spec.rack_rule if racked else "none"
        racks = Racks([number[broker.rack or ""] for broker in self.brokers], mask_of(self.taking), rule)
        place = self.place
        if self.ids == list(range(len(self.ids))):
            had: Sequence[tuple[int, ...]] = self.cluster.replicas
        else:
            had = [tuple([place[broker] for broker in brokers]) for brokers in self.cluster.replicas]
        self.stuck = {place[broker] for broker in self._down()}
        stuck = self.stuck
        fixed = {p for p, brokers in enumerate(had) if not stuck.isdisjoint(brokers)} if stuck else set()
        if not self.spec.balances:
            # What gives up its dead replicas for a lower replication factor is not held up by them.
            fixed -= {p for p in fixed if len(stuck.intersection(had[p])) <= len(had[p]) - self._factor(p, len(had[p]))}
        if self.spec.topics:
            fixed |= {p for p in range(len(had)) if not self._in_scope(p)}
        return Placement(had, len(self.brokers), racks, fixed)

    def _down(self) -> list[int]:
        """The brokers that are not alive and that the spec does not empty, by id."""
        gone = {*self.spec.drain, *self.spec.replace}
        return [broker.id for broker in self.brokers if broker.state == "dead" and broker.id not in gone]

    def _in_scope(self, partition: int) -> bool:
        """Return whether the spec is about the topic of a partition."""
        return not self.spec.topics or self.cluster.topics[self.cluster.topic_of[partition]] in self.spec.topics

    def _factor(self, partition: int, now: int) -> int:
        """Return how many replicas a partition shall have that has so many now."""
        return self.spec.replication_factor.get(self.cluster.topics[self.cluster.topic_of[partition]], now)

    def plan(self) -> Plan:
        """Plan, in the order that the head of this file tells."""
        if self.spec.assignment is not None:
            changes = assigned(self.cluster, self.spec)
            return self._plan(changes, sum(len(change.added) for change in changes), "partition", None)
        self._force()
        if self.ledger is not None:
            level(self.ledger)
        elif self.spec.topic_spread:
            self._share_topics()
        else:
            if self.spec.balances:
                self._share()
            if self.room is None:
                spread_topics(self.placement, self.cluster.topic_of)
        leading, witness = self._lead()
        return self._result(leading, witness)

    # -- what partitions must do by themselves -----------------------------------------------------------------------

    def _demands(self) -> Demands:
        spec, cluster, had = self.spec, self.cluster, self.placement.had
        leaving = [self.place[broker] for broker in spec.drain]
        if spec.balances:
            leaving += [self.place[broker.id] for broker in self.brokers if broker.state == "draining"]
        factors = {p: self._factor(p, len(brokers)) for p, brokers in enumerate(had)} if spec.replication_factor else {}
        wanted = {partition: factor for partition, factor in factors.items() if factor != len(had[partition])}
        replaced = {self.place[old]: self.place[new] for old, new in spec.replace.items()}
        lagging = {
            partition: mask_of(self.place[broker] for broker in late)
            for partition, late in lagging_of(cluster, set(self._down())).items()
        }
        return Demands(mask_of(leaving), replaced, wanted, spec.fix_racks or spec.balances, lagging)

    def _force(self) -> None:
        demands, placement, ledger = self.demands, self.placement, self.ledger
        todo = self._without_fixed(asked(placement, demands))
        self._refuse_replaced()
        need = {}
        for partition in todo:
            need[partition] = release(placement, demands, partition, ledger.used if ledger else placement.loads)
            self.reasons[partition] = self._why(partition)
            if ledger is not None:
                ledger.released(partition, demands.leaving)
        self._refuse_stuck([p for p in todo if not self.stuck.isdisjoint(placement.at(p))])
        self._refuse_unplaced(self._unplaced(need), todo)
        if not self.spec.balances and todo and self.room is None:
            # Where a move goes, or which replica is dropped, is free to choose: as even as can be.
            even_out(Flow([placement], counted=False, free=True), placement.racks.receive)
        self.forced = placement.moves()

    def _unplaced(self, need: Mapping[int, int]) -> list[int]:
        """Place what partitions need; those for which there is no place."""
        if self.room is not None:
            fitting = Fitting(self.placement, self.room, self.ids, self.cluster.size)
            return [] if fitting.place(need) else sorted(need)
        givers = self._givers(need)
        # What is big is placed while there is room.
        filled = sorted(need, key=lambda partition: -self.cluster.size(partition)) if self.ledger else list(need)
        return sorted(partition for partition in filled if not givers.fill(partition, need[partition]))

    def _givers(self, need: Mapping[int, int]) -> Givers:
        """Return who gives partitions the replicas that they need; C(need): how many, by partition."""
        if self.ledger is not None:
            self.ledger.limit_all(Fraction(str(self.spec.bytes_tolerance)), need)
            return Fillers(self.ledger)
        targets = None
        if self.spec.balances:
            self.shares = self._closed_shares() or []
            targets = targets_of(self.shares, self.placement.loads) if self.shares else None
        return Givers(self.placement, targets)

    def _without_fixed(self, todo: list[int]) -> list[int]:
        """Partitions with a replica on a broker that is not alive: balance leaves them alone, other specs cannot."""
        fixed = self.placement.fixed
        if not fixed:
            return todo
        drained = mask_of(self.place[broker] for broker in self.spec.drain)
        named = asked(self.placement, replace(self.demands, leaving=drained, racks=self.spec.fix_racks))
        self._refuse_stuck([p for p in named if p in fixed and self._in_scope(p)])
        return [partition for partition in todo if partition not in fixed]

    def _refuse_stuck(self, stuck: Sequence[int]) -> None:
        if stuck:
            raise _refused(
                f"{len(stuck)} partitions ({shown(map(self.cluster.name, stuck))}) must change and would keep a "
                f"replica on a broker that is not alive ({shown(self._down())}), so their move would never end; start "
                "that broker, or drain or replace it in the same call"
            )

    def _refuse_replaced(self) -> None:
        placement, found = self.placement, []
        for old, new in self.demands.replaced.items():
            both = [p for p in placement.homes[old] if new in placement.had[p]]
            if both:
                found.append(
                    f"replace: broker {self.ids[new]} already has {len(both)} partitions of broker {self.ids[old]} "
                    f"({shown(map(self.cluster.name, both))}); drain {self.ids[old]} instead"
                )
            worse = [p for p in placement.homes[old] if p not in both and self._worse_racks(p, old, new)]
            if worse:
                found.append(
                    f"replace: with broker {self.ids[new]} (rack {self.brokers[new].rack}) in place of "
                    f"{self.ids[old]} (rack {self.brokers[old].rack}) {len(worse)} partitions "
                    f"({shown(map(self.cluster.name, worse))}) would break the {self.spec.rack_rule} rack rule; choose "
                    "a broker of the same rack, drain instead, or set rack_rule: none"
                )
        _refuse(found)

    def _worse_racks(self, partition: int, old: int, new: int) -> bool:
        """Return whether a broker in place of another breaks the rack rule more than it is broken now."""
        racks, had = self.placement.racks, self.placement.had[partition]
        after = [new if broker == old else broker for broker in had]
        return racks.surplus(after, len(had)) > racks.surplus(had, len(had))

    def _refuse_unplaced(self, missing: Sequence[int], todo: Iterable[int]) -> None:
        """Refuse what still lacks a replica when all was given that can be, and what is in fewer racks than before."""
        found = self._fewer_racks(todo)
        if missing:
            found.append(
                f"{len(missing)} partitions ({shown(map(self.cluster.name, missing))}) need another replica, and no "
                f"broker is left that could take one under rack_rule {self.placement.racks.rule}; add brokers, drain "
                "fewer, or loosen that rule"
            )
        _refuse(found)

    def _fewer_racks(self, todo: Iterable[int]) -> list[str]:
        """Strict means never fewer racks than before: what a drain of a rack would break."""
        placement = self.placement
        if placement.racks.rule != "strict":
            return []
        racks_of = placement.racks.counts
        least = {p: min(len(racks_of(placement.had[p])), len(placement.at(p))) for p in todo}
        worse = [p for p in least if len(racks_of(placement.at(p))) < least[p]]
        if not worse:
            return []
        return [
            f"{len(worse)} partitions ({shown(map(self.cluster.name, worse))}) would be in fewer racks than before: "
            f"{placement.racks.used} racks are left; keep a broker in each rack, or set rack_rule: even"
        ]

    def _why(self, partition: int) -> list[str]:
        demands, had, found = self.demands, self.placement.had[partition], []
        for broker in had:
            if broker in demands.replaced:
                found.append(f"broker {self.ids[broker]} is replaced by {self.ids[demands.replaced[broker]]}")
            elif demands.leaving >> broker & 1:
                found.append(f"broker {self.ids[broker]} is drained")
        if partition in demands.wanted:
            found.append(f"replication factor {len(had)} to {demands.wanted[partition]}")
        if demands.racks:
            surplus = self.placement.racks.surplus(had, len(had))
            if surplus:
                found.append(f"rack rule {self.placement.racks.rule}: {surplus} of its replicas in the wrong rack")
        return found

    # -- shares --------------------------------------------------------------------------------------------------

    def _closed_shares(self) -> list[Share] | None:
        """The shares in closed form, where every partition may be on every broker that takes replicas."""
        placement = self.placement
        found = None
        anywhere = not placement.fixed and not placement.barred
        if anywhere and sum(placement.loads[broker] for broker in self.taking) == sum(placement.loads):
            found = self._shares_by_count()
        if found is None and any(self.brokers[broker].weight != 1 for broker in self.taking):
            raise _refused(
                "weight: cannot be kept while excluded or dead brokers hold replicas, nor with more than "
                f"{MOST_GROUPS} kinds of racks (by size and weights); drain those brokers, or leave weights out"
            )
        return found

    def _shares_by_count(self) -> list[Share] | None:
        """The shares if every replica that is on a broker that takes some, or shall be, may be on any of them."""
        had, wanted = self.placement.had, self.demands.wanted
        kinds = Counter(map(len, had))
        for partition, factor in wanted.items():
            kinds[len(had[partition])] -= 1
            kinds[factor] += 1
        for partition, kept in self._elsewhere().items():
            factor = wanted.get(partition, len(had[partition]))
            kinds[factor] -= 1
            kinds[factor - kept] += 1
        return shares_of({r: n for r, n in sorted(kinds.items()) if r > 0 and n}, self.placement.racks, self.weights)

    def _elsewhere(self) -> Counter[int]:
        """Count, by partition, the replicas on brokers that keep what they have and take nothing."""
        keeping = set(range(len(self.ids))).difference(self.taking, bits(self.demands.leaving))
        if not keeping:
            return Counter()
        return Counter(p for p, brokers in enumerate(self.placement.had) for broker in brokers if broker in keeping)

    def _share(self) -> None:
        placement = self.placement
        if not self.shares:
            # What is evened out is a copy; replicas that stay make the guess inexact, but near.
            copy, guess = placement.copy(), self._shares_by_count()
            if guess is not None:
                direct(copy, targets_of(guess, copy.loads), self.cluster.topic_of)
            self.shares = even_out(Flow([copy], counted=False), placement.racks.receive)
        if not balance(placement, self.shares, self.cluster.topic_of):
            raise _refused("no placement gives every broker its share; make the weights of the brokers more alike")

    def _share_topics(self) -> None:
        """As C(_share), within what topics as even as they can be allow."""
        topics = Topics(self.placement, self.cluster.topic_of, self.weights)
        shares = topics.balance(self.shares)
        if shares is None:
            raise _refused(
                "topic_spread: no placement gives every broker its share of every topic; make the weights of the "
                "brokers more alike, or leave topic_spread out"
            )
        self.shares = list(shares)
        self.topics = topics

    # -- who leads, and the result -----------------------------------------------------------------------------------

    def _lead(self) -> tuple[Leadership, Witness | None]:
        """The leader of every partition, and why leaders cannot be even where that was asked for and cannot be."""
        leading, witness = Leadership(self.placement, self.placement.racks.receive), None
        if self.spec.leaders == "balance" or (self.spec.leaders == "auto" and self.spec.balances):
            leading, witness = even_leaders(leading, self.cluster.topic_of)
        return leading, witness and replace(witness, brokers=tuple(self.ids[broker] for broker in witness.brokers))

    def _result(self, leading: Leadership, witness: Witness | None) -> Plan:
        placement, ids = self.placement, self.ids
        changes = []
        for partition in sorted({*placement.now, *leading.now}):
            had, order, first = placement.had[partition], placement.ordered(partition), leading.leader(partition)
            after = (ids[first], *(ids[broker] for broker in order if broker != first))
            before = self.cluster.replicas[partition]
            if after != before:
                changes.append(Change(partition, before, after, self._reasons(partition, had, first)))
        moves = placement.moves()
        floor = max(self.forced, count_bound(placement, self.shares), self.topics.count_bound() if self.topics else 0)
        if self.ledger is not None:
            found = self._plan(changes, moves, "partition" if moves == self.forced else "bytes", witness)
            above = left_above(self.ledger, ids)
            return replace(found, bound=self.forced, bytes=Bytes(self.ledger.bound, above))
        proof = "partition" if moves == self.forced else "count" if moves == floor else "flow"
        if placement.barred and proof == "flow":
            proof = "in_sync"
        return self._plan(changes, moves, proof, witness)

    def _reasons(self, partition: int, had: Sequence[int], first: int) -> tuple[str, ...]:
        found = list(self.reasons.get(partition, ()))
        members = self.placement.at(partition)
        given = [broker for broker in had if broker not in members and not self.demands.leaving >> broker & 1]
        if self.spec.balances and given and not found:
            found += [f"broker {self.ids[broker]} {self._excess(broker)}" for broker in given]
        if first != had[0] and first in had and had[0] in members:
            found.append(f"broker {self.ids[had[0]]} leads more than its share")
        return tuple(found)

    def _excess(self, broker: int) -> str:
        """Say why a broker gives what nothing else asks it to give."""
        if self.ledger is None:
            return "has more than its share"
        return "holds more bytes than its limit" if broker in self.ledger.was_above else "makes room for another"

    def _plan(self, changes: list[Change], moves: int, proof: str, witness: Witness | None) -> Plan:
        _refuse(thin_changes(self.cluster, changes))
        switched = sum(change.before[0] != change.after[0] for change in changes)
        return Plan(
            cluster=self.cluster,
            brokers=self.brokers,
            takers=tuple(self.ids[broker] for broker in self.taking),
            changes=tuple(changes),
            moves=moves,
            deletions=sum(len(change.removed) for change in changes),
            bound=moves,
            proof=proof,
            leader_changes=switched,
            leader_bound=switched,
            witness=witness,
            topic_bound=self.topics.spread() if self.topics else None,
        )
