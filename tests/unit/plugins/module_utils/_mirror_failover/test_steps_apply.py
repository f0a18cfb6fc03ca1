# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a planned failover, in the order in which they ask and write, also when a run is cut."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import Binding, parse_entries
from ansible_collections.streamops.kafka.plugins.module_utils._acls.plan import denials_key, denied_topics
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Key
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError, RequestFailedError
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.records import position_of
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover import apply, denials_apply
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover import steps_apply as act
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.model import (
    GroupPlan,
    PartitionPlan,
    Plan,
    Reading,
    Span,
)
from tests.support.acts import Acts, Killed

FLOW = Flow("a", "b", ("orders",))
KEY = "mirror_failover a->b"
SOURCE: Any = "the source"
TARGET: Any = "the target"
ROW = PartitionPlan("orders", 0, 100, 100, 0, 0, False)
READING = Reading("orders", 0, "known", 90, 88, None, 88, 90, Span(0, 2), Span(0, 0))
WHOLE = Plan("a->b", "b", 5.0, [ROW], [GroupPlan("billing", "classic", 0, 0, True, [READING])], [], [])
ALLOWED = Binding("User:orders", "*", "allow", "write", "topic", "orders", "literal")
DENIED = ALLOWED._replace(permission="deny")


class Clusters(Acts):
    """The record of the target, the ACLs of the source, and what was done in which order."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, Any] = {}
        self.acls = {ALLOWED}
        self.plan = WHOLE
        self.rival: Any = None
        self.topics = {"orders", "invoices"}
        #: Positions of the flow back, as the source keeps them.
        self.positions: dict[Key, int] = {}
        #: How many mirrors run the flow back, and why that is not known.
        self.running: tuple[int, list[str]] = 0, []
        #: What clusters keep of denials, so that no list of ACLs takes them away; by cluster and flow.
        self.kept_denials: dict[tuple[str, str], set[tuple[str, str]]] = {}

    def keep_denials(self, session: str, pair: str, denied: Any) -> None:
        """Keep denials of a failover; one failover keeps them for as long as they may be there."""
        others = [kept for (_session, other), kept in self.kept_denials.items() if other != pair]
        alone = self.kept_denials.get((session, pair), set()).difference(*others)
        assert denied or not [acl for acl in self.acls - {ALLOWED} if (acl.principal, acl.resource) in alone]
        self.kept_denials[session, pair] = set(denied)

    def read_prefixed(self, session: str, _prefix: str) -> dict[str, Any]:
        """Return what a cluster keeps of denials."""
        kept = {pair: denied for (cluster, pair), denied in self.kept_denials.items() if cluster == session}
        return {denials_key(pair): denied_topics(denied) for pair, denied in kept.items()}

    def read_state(self, session: str, key: str) -> tuple[Any, int]:
        """Return what a cluster keeps."""
        return self.kept.get(f"{session} {key}"), 7

    def claim_state(self, session: str, key: str, value: Any, since: int) -> Any:
        """Keep a value, unless a rival was first."""
        assert since == 7
        self.do(f"keep {value['stage']}")
        self.kept[f"{session} {key}"] = self.rival or value
        return self.rival or value

    def write_state(self, session: str, key: str, value: Any) -> int:
        """Forget a value."""
        self.do("forget")
        del self.kept[f"{session} {key}"]
        assert value is None
        return 8

    def ensure_acls(self, session: str, params: Any, check: bool, diff: bool) -> dict[str, Any]:
        """Make and delete bindings."""
        assert (session, check, diff) == (SOURCE, False, False)
        present, absent, wrong = parse_entries(params["acls"])
        assert not wrong
        assert {(binding.principal, binding.resource) for binding in present} <= self.kept_denials[SOURCE, "a->b"]
        self.do("deny" if present else "allow")
        self.acls = (self.acls | set(present)) - set(absent)
        return {}

    def bring_offsets(self, session: str, group: str, offsets: Any) -> tuple[()]:
        """Note the offsets of a group."""
        assert session == TARGET
        self.do(f"{group} to {offsets}")
        return ()

    def make_topic(self, session: str, spec: Any, _seconds: float) -> None:
        """Make a topic of the source."""
        assert (session, spec.partitions, spec.replication_factor) == (SOURCE, 25, 1)
        assert spec.config == {"cleanup.policy": "compact", "segment.bytes": "52428800"}
        self.do(f"make {spec.name}")
        self.topics.add(spec.name)

    def write_positions(self, session: str, topic: str, records: Any) -> None:
        """Keep positions of the flow back."""
        assert (session, topic in self.topics) == (SOURCE, True)
        read = [position_of(key, value, "b") for key, value in records.items()]
        self.do(f"positions {read}")
        self.positions |= {where: position for where, position in filter(None, read) if position is not None}

    def read_notes(self, flow: Flow, session: str, _existing: Any) -> Any:
        """Return what MirrorMaker has written about the flow back."""
        assert (flow.pair, session) == ("b->a", SOURCE)
        return SimpleNamespace(positions=dict(self.positions))


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> Clusters:
    """Two clusters without Kafka."""
    made = Clusters()
    for name in ("claim_state", "write_state", "bring_offsets", "make_topic", "write_positions", "read_notes"):
        monkeypatch.setattr(act, name, getattr(made, name))
    for name in ("ensure_acls", "keep_denials", "read_prefixed"):
        monkeypatch.setattr(denials_apply, name, getattr(made, name))
    monkeypatch.setattr(act, "copies_for", lambda _session: 1)
    monkeypatch.setattr(apply, "read_state", made.read_state)
    monkeypatch.setattr(act, "made_state_topic", lambda _session: False)
    monkeypatch.setattr(
        act,
        "topics_at",
        lambda _session, _broker, names: {name: [] for name in made.topics if name in (names or [name])},
    )
    monkeypatch.setattr(act, "describe_acls", lambda _session: dict.fromkeys(made.acls))
    monkeypatch.setattr(act, "planned", lambda *_arguments: made.plan)
    asked = {("b->a", SOURCE): lambda: made.running}
    monkeypatch.setattr(act, "running", lambda flow, session: asked[flow.pair, session]())
    return made


def failover(flow: Flow = FLOW, **given: Any) -> act.Failover:
    """Return a failover as a run of its own begins it."""
    params = {"operator": "alice", "writers": [], "writers_stopped": False, "stage": "", "flow_enabled": True, **given}
    return act.Failover(flow, SOURCE, TARGET, params)


def stage(clusters: Clusters) -> str:
    """Return the stage that is kept; empty for none."""
    return str((clusters.kept.get(f"{TARGET} {KEY}") or {"stage": ""})["stage"])


def to(clusters: Clusters, wanted: str) -> None:
    """Take steps to a stage."""
    failover(writers=["User:orders"]).next(False)
    while stage(clusters) != wanted:
        failover().next(False)
    clusters.done.clear()


def test_a_step_to_another_stage_than_the_approved_one_is_refused(clusters: Clusters) -> None:
    approved = failover(writers=["User:orders"]).next(True)["stage"]
    to(clusters, "fenced")
    with pytest.raises(RefusedError, match="a->b leads to drained, and fenced was approved: another run has taken"):
        failover(writers=["User:orders"], stage=approved).next(False)
    assert clusters.done == []
    assert failover(stage="drained").next(False)["stage"] == "drained"


def test_all_steps_from_the_first_to_the_last(clusters: Clusters) -> None:
    failover(writers=["User:orders"]).next(False)
    # What is denied stands in the record before it is, and the stage only after the look.
    assert clusters.done == ["keep begun", "deny", "keep fenced"]
    assert DENIED in clusters.acls
    assert failover().next(False)["stage"] == "drained"
    clusters.done.clear()
    moved = failover().next(False)
    assert clusters.done == ["deny", "billing to {('a.orders', 0): 88}", "keep moved"]
    assert "Group        billing: begins at b, reads at most 2 records again (orders-0 at most 2)" in moved["lines"]
    assert failover().next(False)["stage"] == "turned"
    with pytest.raises(RefusedError, match="still enables"):
        failover().next(False)
    clusters.done.clear()
    assert failover(flow_enabled=False).next(False)["stage"] == "done"
    assert clusters.done == ["allow", "forget"]
    assert clusters.acls == {ALLOWED}


@pytest.mark.parametrize("cut", ["keep begun", "deny", "keep fenced"])
def test_a_fence_that_was_cut_is_made_by_the_next_run(clusters: Clusters, cut: str) -> None:
    clusters.killed_at = cut
    with pytest.raises(Killed):
        failover(writers=["User:orders"]).next(False)
    failover(writers=["User:orders"]).next(False)
    assert (stage(clusters), clusters.acls) == ("fenced", {ALLOWED, DENIED})
    failover().back(False)
    assert (stage(clusters), clusters.acls) == ("", {ALLOWED})


def test_a_way_back_that_was_cut_goes_on(clusters: Clusters) -> None:
    to(clusters, "moved")
    for cut in ("allow", "forget"):
        clusters.killed_at = cut
        with pytest.raises(Killed):
            failover().back(False)
    lines = failover().back(False)["lines"]
    assert "Allowed      User:orders may again write orders" in lines
    assert (stage(clusters), clusters.acls) == ("", {ALLOWED})
    assert failover().back(False)["changed"] is False


def test_a_stage_that_is_not_reached_leaves_record_and_denials(clusters: Clusters) -> None:
    clusters.plan = replace(WHOLE, partitions=[replace(ROW, grown=5)])
    with pytest.raises(act.StepNotReachedError, match="a->b is not fenced yet:\n- still written") as raised:
        failover(writers=["User:orders"]).next(False)
    assert "The stage is as it was, and what was denied stays denied. Run the same again, or go" in str(raised.value)
    assert (stage(clusters), DENIED in clusters.acls) == ("begun", True)
    # The principal that was forgotten is denied beside the first.
    clusters.plan = WHOLE
    failover(writers=["User:late"]).next(False)
    assert {binding.principal for binding in clusters.acls if binding.permission == "deny"} == {
        "User:orders",
        "User:late",
    }
    assert len(clusters.kept[f"{TARGET} {KEY}"]["denied"]) == 2


def test_a_stage_that_is_not_reached_names_no_denials_where_none_were_made(clusters: Clusters) -> None:
    clusters.plan = replace(WHOLE, partitions=[replace(ROW, grown=5)])
    with pytest.raises(act.StepNotReachedError, match=r"The stage is as it was\. Run the same again, or go back"):
        failover(writers_stopped=True).next(False)


def test_denials_that_somebody_took_away_are_made_again(clusters: Clusters) -> None:
    to(clusters, "fenced")
    clusters.acls = {ALLOWED}
    failover().next(False)
    assert DENIED in clusters.acls


def test_only_what_the_failover_denied_is_allowed_again(clusters: Clusters) -> None:
    other = DENIED._replace(principal="User:other")
    clusters.acls |= {other}
    failover(writers=["User:orders", "User:other"]).next(False)
    failover().back(False)
    assert clusters.acls == {ALLOWED, other}


def test_a_denial_that_another_failover_needs_too_stays_until_that_has_ended(clusters: Clusters) -> None:
    # The failover by a->c has denied it; this one denies it as well.
    clusters.kept_denials[SOURCE, "a->c"] = {("User:orders", "orders")}
    clusters.acls |= {DENIED}
    failover(writers=["User:orders"]).next(False)
    assert clusters.kept_denials[SOURCE, "a->b"] == {("User:orders", "orders")}
    # That it was not there before is known of the other failover: this one stays fenced when that takes it away.
    clusters.acls = {ALLOWED}
    failover().next(False)
    assert DENIED in clusters.acls
    line = "Denied       User:orders may not write orders: the failover a->c needs it"
    assert line in failover().back(True)["lines"]
    assert line in failover().back(False)["lines"]
    assert (stage(clusters), clusters.acls) == ("", {ALLOWED, DENIED})
    assert clusters.kept_denials[SOURCE, "a->b"] == set()


def test_a_second_operator_takes_no_step_and_nothing_back(clusters: Clusters) -> None:
    to(clusters, "fenced")
    for take in (failover(operator="bob").next, failover(operator="bob").back):
        with pytest.raises(RefusedError, match="taken by alice"):
            take(False)
    assert clusters.done == []


def test_of_two_runs_at_once_the_later_one_is_refused(clusters: Clusters) -> None:
    second = failover(writers=["User:orders"])
    clusters.rival = {"stage": "begun", "by": "bob", "at": "now", "are_stopped": True, "denied": []}
    with pytest.raises(RefusedError, match=r"at the same time: bob \(begun\)"):
        second.next(False)
    assert clusters.acls == {ALLOWED}


def test_check_mode_says_what_a_step_would_deny_and_what_it_lacks(clusters: Clusters) -> None:
    clusters.plan = replace(WHOLE, partitions=[replace(ROW, grown=5)])
    lines = failover(writers=["User:orders"]).next(True)["lines"]
    assert "Denied       User:orders may not write orders" in lines
    assert any(line.startswith("Not yet      still written") for line in lines)
    to_be = replace(WHOLE, partitions=[ROW])
    clusters.plan = to_be
    assert "Ready        fenced would be reached now" in failover(writers_stopped=True).next(True)["lines"]
    assert (clusters.done, clusters.kept) == ([], {})


def test_the_record_of_a_loss_waits_and_the_failover_back_takes_it_away(clusters: Clusters) -> None:
    loss = {"looked_at": "", "copied": {"orders": {"0": 100}}}
    lost = {"stage": "turned", "by": "bob", "at": "then", "are_stopped": False, "denied": [], "loss": loss}
    # In its own direction no step is left, and it is not taken back.
    clusters.kept[f"{TARGET} {KEY}"] = lost
    for take in (failover(operator="bob").next, failover(operator="bob").back):
        with pytest.raises(RefusedError, match="so no step is left"):
            take(False)
    del clusters.kept[f"{TARGET} {KEY}"]
    # The source of the way back keeps it, and behind the failback it keeps nobody from going back.
    clusters.kept[f"{SOURCE} mirror_failover b->a"] = {**lost, "loss": {**loss, "back": {"stage": "begun"}}}
    to(clusters, "turned")
    assert f"{SOURCE} mirror_failover b->a" in clusters.kept
    failover(flow_enabled=False).next(False)
    assert clusters.done == ["allow", "forget", "forget"]
    assert clusters.kept == {}


def test_what_a_failback_denied_is_allowed_once_the_failover_back_opens_its_target(
    clusters: Clusters, monkeypatch: pytest.MonkeyPatch
) -> None:
    loss = {"copied": {}, "back": {"stage": "begun", "first": {}, "kept": {}}}
    denied = [["User:orders", "orders"]]
    lost = {"stage": "turned", "by": "bob", "at": "then", "are_stopped": False, "denied": denied, "loss": loss}
    clusters.kept[f"{SOURCE} mirror_failover b->a"] = lost
    to(clusters, "moved")
    asked: list[Any] = []
    monkeypatch.setattr(
        denials_apply, "ensure_acls", lambda session, params, **_more: asked.append((session, params["acls"]))
    )
    lines = failover().next(False)["lines"]
    # What this failover denies in its own source stays.
    session, (entry,) = asked[-1]
    assert (session, entry["principal"], entry["state"]) == (TARGET, "User:orders", "absent")
    assert "Allowed      User:orders may again write orders in b" in lines


def test_nobody_can_be_denied_without_an_authorizer(clusters: Clusters, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_session: str) -> Any:
        raise RequestFailedError("describe ACLs", "", "SECURITY_DISABLED", "No Authorizer is configured")

    monkeypatch.setattr(act, "describe_acls", none)
    with pytest.raises(RefusedError, match="has no authorizer"):
        failover(writers=["User:orders"]).next(False)
    assert failover(writers_stopped=True).next(False)["stage"] == "fenced"
    assert clusters.done == ["keep begun", "keep fenced"]


KEPT = replace(FLOW, policy="identity")
BACK = "mm2-offsets.b.internal"


def test_with_names_that_are_kept_the_last_look_says_where_the_flow_back_begins(clusters: Clusters) -> None:
    to(clusters, "moved")
    shown = failover(KEPT).next(True)["lines"]
    assert shown[-2:] == [
        "Ready        turned would be reached now",
        "Flow back    b->a begins at the ends of now: 1 partition",
    ]
    assert (clusters.done, clusters.positions) == ([], {})
    lines = failover(KEPT).next(False)["lines"]
    assert clusters.done == ["deny", f"make {BACK}", "positions [(('orders', 0), 100)]", "keep turned"]
    assert "Flow back    b->a begins at the ends of now: 1 partition" in lines


@pytest.mark.parametrize("cut", [f"make {BACK}", "positions [(('orders', 0), 100)]", "keep turned"])
def test_positions_of_a_step_that_was_cut_are_written_once(clusters: Clusters, cut: str) -> None:
    to(clusters, "moved")
    clusters.killed_at = cut
    with pytest.raises(Killed):
        failover(KEPT).next(False)
    assert stage(clusters) == "moved"
    failover(KEPT).next(False)
    assert (stage(clusters), clusters.positions) == ("turned", {("orders", 0): 100})
    assert sum(act.startswith("positions") for act in clusters.done) == 1


def test_nothing_is_opened_while_a_position_is_not_there(clusters: Clusters, monkeypatch: pytest.MonkeyPatch) -> None:
    to(clusters, "moved")
    monkeypatch.setattr(act, "write_positions", lambda *_arguments: None)
    with pytest.raises(act.StepNotReachedError, match="not as they were set: orders-0"):
        failover(KEPT).next(False)
    assert stage(clusters) == "moved"


@pytest.mark.parametrize(
    ("running", "words"),
    [
        ((2, []), "2 mirrors run b->a, and would go on from positions of their own"),
        ((0, ["group b-mm2 of a (timed out)"]), "mirrors are not known: group b-mm2 of a (timed out)"),
    ],
)
def test_nothing_is_opened_while_a_mirror_of_no_inventory_runs_the_flow_back(
    clusters: Clusters, running: tuple[int, list[str]], words: str
) -> None:
    to(clusters, "moved")
    clusters.running = running
    assert words in str(failover(KEPT).next(True)["lines"])
    with pytest.raises(act.StepNotReachedError) as raised:
        failover(KEPT).next(False)
    assert words in raised.value.message
    assert (stage(clusters), clusters.positions) == ("moved", {})
    # Names with a prefix tell what came from there, so such a mirror does no harm.
    assert failover().next(False)["stage"] == "turned"


def test_no_position_is_written_where_none_is_needed(clusters: Clusters) -> None:
    to(clusters, "moved")
    failover(replace(KEPT, untouched_source=True)).next(False)
    assert clusters.done == ["deny", "keep turned"]
