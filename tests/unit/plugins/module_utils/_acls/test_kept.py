# SPDX-License-Identifier: GPL-3.0-or-later
"""Denials of a failover that is under way stay, whatever a list of ACLs says of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._acls import apply
from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import Binding, parse_entries
from ansible_collections.streamops.kafka.plugins.module_utils._acls.plan import (
    KEPT,
    denials_key,
    denials_of,
    kept_denials,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError, RequestFailedError
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover import denials_apply
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.record import Denial
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.steps import denial_entries
from ansible_collections.streamops.kafka.plugins.module_utils._state.form import UnknownFormError

OF_FAILOVER = Binding("User:orders", "*", "deny", "write", "topic", "orders", "literal")
OTHER = OF_FAILOVER._replace(principal="User:intern")
ALLOWED = Binding("User:app", "*", "allow", "read", "topic", "orders", "literal")
LISTED = {"principal": "User:app", "operations": ["read"], "resource_type": "topic", "resource": "orders"}
SESSION: Any = SimpleNamespace(connection=None)


class Cluster:
    """What a cluster keeps, its ACLs, and what was warned of."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}
        self.writes: list[Any] = []
        self.reads = 0
        self.acls = {ALLOWED, OF_FAILOVER, OTHER}
        self.warned: list[str] = []

    def read_prefixed(self, _session: Any, prefix: str) -> dict[str, Any]:
        self.reads += 1
        return {key: value for key, value in self.kept.items() if key.startswith(prefix)}

    def read_states(self, _session: Any, keys: list[str]) -> dict[str, Any]:
        return {key: self.kept[key] for key in keys if key in self.kept}

    def write_state(self, _session: Any, key: str, value: Any) -> int:
        self.kept[key] = value
        if value is None:
            del self.kept[key]
        self.writes.append(value)
        return 8


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """A cluster with a denial of a failover, another one, and what the list has."""
    made = Cluster()
    monkeypatch.setattr(apply, "read_prefixed", made.read_prefixed)
    for name in ("read_states", "write_state"):
        monkeypatch.setattr(denials_apply, name, getattr(made, name))
    monkeypatch.setattr(denials_apply, "made_state_topic", lambda _session: False)
    monkeypatch.setattr(denials_apply, "warn", made.warned.append)
    monkeypatch.setattr(apply, "warn", made.warned.append)
    monkeypatch.setattr(apply, "describe_acls", lambda _session: dict.fromkeys(made.acls))
    monkeypatch.setattr(apply, "own_principal", lambda _connection: "User:admin")
    return made


def keep(pair: str, *denied: tuple[str, str]) -> None:
    """Keep what the failover by a flow denies."""
    denials_apply.keep_denials(SESSION, pair, [Denial(*names) for names in denied])


def removed(acls: list[dict[str, Any]], authoritative: bool = True) -> list[str]:
    """Return what a run would remove."""
    options = {"authoritative": authoritative, "authoritative_for": [], "timeout": 1}
    return sorted(apply.ensure_acls(SESSION, {"acls": acls, **options}, check=True, diff=False)["removed_first"])


def test_an_authoritative_list_leaves_the_denials_of_a_failover_and_says_so(cluster: Cluster) -> None:
    assert removed([LISTED]) == sorted(map(str, (OF_FAILOVER, OTHER)))
    keep("a->b", ("User:orders", "orders"))
    assert removed([LISTED]) == [str(OTHER)]
    (warning,) = cluster.warned
    assert "an entry with state: absent does so at once" in warning
    assert "the failover a->b has denied: User:orders deny write on topic literal orders" in warning
    # Who names it means it: so the failover itself takes its denials away.
    entries = denial_entries([Denial("User:orders", "orders")], "absent")
    assert removed([LISTED, *entries]) == sorted(map(str, (OF_FAILOVER, OTHER)))
    assert removed(entries, authoritative=False) == [str(OF_FAILOVER)]


def test_nothing_is_read_while_no_denial_would_go(cluster: Cluster) -> None:
    cluster.acls = {ALLOWED, ALLOWED._replace(resource="old")}
    assert len(removed([LISTED])) == 1
    assert cluster.reads == 0


def test_a_kept_denial_is_the_one_that_a_failover_makes() -> None:
    (binding,), _absent, _wrong = parse_entries(denial_entries([Denial("User:orders", "orders")]))
    assert binding == OF_FAILOVER


@pytest.mark.parametrize("of_flow", [["User:x"], "User:x", {"User:x": "t1"}, {"User:x": [1]}, 3])
def test_a_kept_value_of_another_form_is_refused_and_left(cluster: Cluster, of_flow: Any) -> None:
    for key, value in ((KEPT, ["a->b"]), (KEPT, "{"), (KEPT, {"a->b": of_flow}), (denials_key("a->b"), of_flow)):
        cluster.kept = {key: value}
        with pytest.raises(UnknownFormError, match=rf"record '{key}' has another form .* record was left as it is"):
            removed([LISTED])
        with pytest.raises(UnknownFormError):
            keep("a->b", ("User:x", "t1"))
        assert (cluster.kept, cluster.writes) == ({key: value}, [])


def test_each_flow_keeps_its_own_and_nothing_is_written_twice(cluster: Cluster) -> None:
    keep("a->b", ("User:x", "t2"), ("User:x", "t1"))
    keep("a->b", ("User:x", "t1"), ("User:x", "t2"))
    keep("a->c", ("User:x", "t1"))
    # Each at a key of its own, so that two failovers of one source at the same moment leave each other's.
    assert cluster.kept == {
        "denials of failovers a->b": {"User:x": ["t1", "t2"]},
        "denials of failovers a->c": {"User:x": ["t1"]},
    }
    keep("a->c")
    keep("a->c")
    left = [OF_FAILOVER._replace(principal="User:x", resource=name) for name in ("t1", "t2")]
    assert kept_denials(denials_of(cluster.kept)) == dict.fromkeys(left, "a->b")
    keep("a->b")
    assert (cluster.kept, len(cluster.writes)) == ({}, 4)


def test_what_an_older_release_kept_of_all_flows_holds_until_a_flow_has_its_own(cluster: Cluster) -> None:
    older = {"a->b": {"User:orders": ["orders"]}, "a->c": {"User:intern": ["orders"]}}
    cluster.kept = {KEPT: older}
    assert removed([LISTED]) == []
    # It is there already; and nothing of another flow, which may write at this moment, is written.
    keep("a->b", ("User:orders", "orders"))
    assert cluster.writes == []
    keep("a->b")
    assert cluster.kept == {KEPT: older, "denials of failovers a->b": {}}
    assert removed([LISTED]) == [str(OF_FAILOVER)]
    keep("a->b")
    assert len(cluster.writes) == 1


def test_a_failover_goes_on_where_it_may_not_keep_them_and_stops_at_trouble(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(code: str) -> None:
        def write(*_arguments: Any) -> int:
            raise RequestFailedError("write", "_streamops_state", code, "because")

        monkeypatch.setattr(denials_apply, "write_state", write)

    fails("TOPIC_AUTHORIZATION_FAILED")
    keep("a->b", ("User:x", "t1"))
    assert "a->b: its denials are not kept" in cluster.warned[0]
    fails("REQUEST_TIMED_OUT")
    with pytest.raises(RequestFailedError):
        keep("a->b", ("User:x", "t1"))


def test_a_list_that_may_not_be_taken_away_is_said_to_stay(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    keep("a->b", ("User:x", "t1"))

    def write(*_arguments: Any) -> int:
        raise RequestFailedError("write", "_streamops_state", "TOPIC_AUTHORIZATION_FAILED", "because")

    monkeypatch.setattr(denials_apply, "write_state", write)
    keep("a->b")
    assert "its denials are gone, but not the list of them" in cluster.warned[0]


def test_no_denial_goes_while_it_is_hidden_whether_a_failover_needs_it(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = ["TOPIC_AUTHORIZATION_FAILED"]

    def read(*_arguments: Any) -> dict[str, Any]:
        raise RequestFailedError("read", "_streamops_state", codes[0], "grant read")

    monkeypatch.setattr(apply, "read_prefixed", read)
    monkeypatch.setattr(denials_apply, "read_states", read)
    with pytest.raises(RefusedError, match=r"whether a failover needs them is not known\. grant read\."):
        removed([LISTED])
    # The failover itself does not need it.
    keep("a->b", ("User:x", "t1"))
    assert "a->b: its denials are not kept" in cluster.warned[0]
    codes[0] = "REQUEST_TIMED_OUT"
    with pytest.raises(RequestFailedError):
        removed([LISTED])
    cluster.acls = {ALLOWED, ALLOWED._replace(resource="old")}
    assert len(removed([LISTED])) == 1
