# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight rows on SASL mechanisms that clients move between: too early, still used, not known."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import UNDEFINED
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.host import Host, Offer, host_of
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rule import RULES
from tests.support.preflight_inventories import combined

SCRAM, TOKENS, PLAIN = "SCRAM-SHA-512", "OAUTHBEARER", "PLAIN"
LISTENERS = [
    {"name": "CLIENT", "port": 9092, "protocol": "SASL_SSL", "purpose": "clients"},
    {"name": "BROKER", "port": 9094, "protocol": "SSL", "purpose": "brokers"},
    {"name": "CONTROLLER", "port": 9093, "protocol": "SSL", "purpose": "controllers"},
]
EARLY, USED = "mechanism_too_early", "mechanism_in_use"


def entry(mechanism: str, listener: str = "CLIENT") -> dict[str, Any]:
    return {"listener": listener, "mechanism": mechanism, "count": 3, "first": 1_790_000_000, "last": 1_790_003_600}


def hosts(
    now: list[str] | None, then: Any, logins: Any = None, looked_at: float = 1_790_003_600, **more: Any
) -> list[Host]:
    """One broker that runs with the mechanisms of now, and a run that brings those of then."""
    inventory = combined(kafka_listeners=LISTENERS, kafka_sasl_mechanisms=then, **more)
    mechanisms = {} if now is None else {"client": now}
    info = {"disks": [], "mechanisms": mechanisms, "logins": logins, "looked_at": looked_at}
    return [host_of(inventory.nodes[0], info)]


def said(rule: str, *of: Any, **more: Any) -> list[str]:
    return [violation.sentence() for violation in RULES[rule].violations(hosts(*of, **more))]


def test_the_three_runs_pass() -> None:
    runs = [([SCRAM], [SCRAM, TOKENS]), ([SCRAM, TOKENS], [TOKENS, SCRAM]), ([TOKENS, SCRAM], [TOKENS])]
    for now, then in runs:
        assert not said(EARLY, now, then, [entry(TOKENS)])
        assert not said(USED, now, then, [entry(TOKENS)])


@pytest.mark.parametrize("then", [[TOKENS, SCRAM], [TOKENS]])
def test_our_own_clients_do_not_go_to_what_no_broker_offers_yet(then: list[str]) -> None:
    (sentence,) = said(EARLY, [SCRAM], then)
    assert "nothing can log in at listener CLIENT by OAUTHBEARER yet" in sentence
    assert "found: the running broker offers SCRAM-SHA-512" in sentence
    assert "preflight_accept: [mechanism_too_early]" in sentence
    assert not said(USED, [SCRAM], then), "the same mistake once"


def test_what_clients_use_is_not_taken_away() -> None:
    (sentence,) = said(USED, [TOKENS, SCRAM, PLAIN], [TOKENS], [entry(TOKENS), entry(SCRAM)])
    assert "this run takes SCRAM-SHA-512 away from listener CLIENT" in sentence
    assert "3 logins since 2026-09-21 14:13:20 UTC, the last at 2026-09-21 15:13:20 UTC" in sentence
    assert "a run tries the passwords of kafka_users by SCRAM-SHA-512, which counts too" in sentence
    assert "set update_password: on_create for those of them who have moved" in sentence
    (sentence,) = said(USED, [TOKENS, PLAIN], [TOKENS], [entry(TOKENS), entry(PLAIN)])
    assert "fix: move these clients first; the count begins anew" in sentence
    assert "kafka_users" not in sentence
    elsewhere = [entry(SCRAM, "OTHER"), entry(TOKENS)]
    assert not said(USED, [TOKENS, SCRAM], [TOKENS], elsewhere), "logins at another listener"


@pytest.mark.parametrize("logins", [None, [], [entry(TOKENS, "OTHER")]])
def test_of_what_is_not_known_nobody_says_that_it_is_unused(logins: Any) -> None:
    (sentence,) = said(USED, [TOKENS, SCRAM], [TOKENS], logins)
    assert "the broker has counted no login there, so it is not known who uses it" in sentence


def test_that_nothing_has_come_back_a_moment_after_a_restart_says_little() -> None:
    run = ([TOKENS, SCRAM], [TOKENS], [entry(TOKENS), entry(PLAIN)])
    (sentence,) = said(USED, *run, looked_at=1_790_000_180)
    assert "no login by SCRAM-SHA-512 in 3 min (since 2026-09-21 14:13:20 UTC, 6 by others)" in sentence
    assert "allowed: counted for 15 min" in sentence
    assert not said(USED, *run, looked_at=1_790_000_900)
    # What was counted is told whenever it was.
    (sentence,) = said(USED, [TOKENS, SCRAM], [TOKENS], [entry(TOKENS), entry(SCRAM)], looked_at=1_790_000_180)
    assert "3 logins since" in sentence


def test_a_broker_that_does_not_run_has_no_clients() -> None:
    assert not said(EARLY, None, [TOKENS])
    assert not said(USED, None, [TOKENS])


def test_a_native_property_says_what_a_listener_offers() -> None:
    key = "listener.name.client.sasl.enabled.mechanisms"
    own = {"kafka_config": {"min.insync.replicas": 2, "default.replication.factor": 3, key: f"{SCRAM}, {TOKENS}"}}
    (host,) = hosts(None, [SCRAM], **own)
    assert host.offers == (Offer("CLIENT", (SCRAM, TOKENS), SCRAM),)
    assert not said(USED, [SCRAM, TOKENS], [SCRAM], [entry(TOKENS)], **own)


def test_what_is_made_at_run_time_is_passed_over() -> None:
    assert hosts(None, UNDEFINED)[0].offers == ()
