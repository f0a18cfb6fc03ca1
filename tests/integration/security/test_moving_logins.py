# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients move from SCRAM to tokens by three runs of site.yml under traffic (docs/tls-sasl.md): nothing is lost."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.login import SaslLogin
from tests.support.cluster import Cluster, said
from tests.support.secured import admin_connection, secured_cluster
from tests.support.token_issuer import AUDIENCE, TokenIssuer
from tests.support.traffic import Ledger, producing, read_all

pytestmark = pytest.mark.full

SCRAM, TOKENS = "SCRAM-SHA-512", "OAUTHBEARER"
ADMIN, WRITER, TOPIC = "admin", "orders", "orders"
#: Passwords of SCRAM, which are the secrets at the issuer too.
SECRETS = {ADMIN: "secret-of-the-admin-1", WRITER: "secret-of-orders-1"}
#: Offset of the issuer's port among all ports of the cluster.
ISSUER = 95
#: Records a second of each writer, and how many a writer has to have written before the next step.
RATE, RECORDS = 200, 500
#: Seconds that the clock is ahead: a broker has to count logins for 15 minutes before a mechanism is taken away.
AHEAD = 960
# Shifts the clock by which node_info says when it looked, and no other one: tokens and locks keep theirs.
CLOCK = f"""\
import sys
import time

_now = time.time


def ahead():
    caller = sys._getframe(1).f_globals.get("__name__", "")
    return _now() + ({AHEAD} if caller.endswith("._node.info") else 0)


time.time = ahead
"""


@dataclass
class Place:
    """A secured cluster, and the issuer whose tokens its clients move to."""

    cluster: Cluster
    issuer: TokenIssuer

    def oauth(self, **more: str) -> dict[str, Any]:
        """Return kafka_oauth of the inventory."""
        keys = {"issuer": self.issuer.url, "jwks_url": f"{self.issuer.url}/keys"}
        return {**keys, "audience": [AUDIENCE], "ca_file": str(self.issuer.ca_file), **more}

    def login(self, mechanism: str, user: str) -> dict[str, Any]:
        """Return librdkafka's settings of a user."""
        issuer = self.issuer
        login = SaslLogin(mechanism, user, SECRETS[user], f"{issuer.url}/token", ca_file=str(issuer.ca_file))
        options = {**admin_connection(self.cluster, SECRETS[ADMIN]), **login.options()}
        return {**Connection.from_params(options).confluent_config(), "log_level": 0}

    def lets_in(self, mechanism: str, user: str) -> bool:
        """Tell whether a user gets in."""
        try:
            return bool(AdminClient(self.login(mechanism, user)).list_topics(timeout=10).brokers)
        except KafkaException:
            return False

    def writing(self, mechanism: str) -> contextlib.AbstractContextManager[Ledger]:
        """Write as a client that logs in so, until the block ends."""
        return producing(self.cluster.bootstrap_servers, TOPIC, RATE, self.login(mechanism, WRITER))

    def use(self, **variables: Any) -> None:
        """Run site.yml with these variables from now on; it restarts each node once."""
        before = self.cluster.pids()
        self.cluster.variables.update(variables)
        self.cluster.playbook().ok()
        after = self.cluster.pids()
        assert all(after[node] != before[node] for node in before)

    def refused(self, **variables: Any) -> str:
        """Run site.yml with these variables, which takes SCRAM away too soon; return what it says."""
        before = self.cluster.pids()
        run = self.cluster.playbook(**variables)
        assert (run.rc != 0, run.changed) == (True, 0), run.output[-3000:]
        assert self.cluster.pids() == before
        assert "mechanism_in_use" in run.output
        assert f"this run takes {SCRAM} away from listener CLIENT" in said(run)
        return said(run)

    def status(self) -> str:
        """Return what status.yml says."""
        return said(self.cluster.playbook("playbooks/status.yml").ok())


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Three combined nodes whose clients log in by SCRAM; User:orders may write orders. The issuer runs."""
    directory = tmp_path_factory.mktemp("moving_logins")
    cluster = secured_cluster(
        directory / "cluster",
        SECRETS[ADMIN],
        kafka_sasl_mechanisms=[SCRAM],
        kafka_users=[{"name": WRITER, "password": SECRETS[WRITER]}],
        kafka_acls=[{"principal": f"User:{WRITER}", "role": "producer", "topics": [TOPIC]}],
    )
    with TokenIssuer(directory, cluster.port_base + ISSUER, SECRETS) as issuer:
        try:
            cluster.playbook().ok()
            yield Place(cluster, issuer)
        finally:
            cluster.destroy()


def clock_ahead(folder: Path) -> dict[str, Any]:
    """Return the variables of a run that looks at the nodes AHEAD seconds later."""
    (folder / "sitecustomize.py").write_text(CLOCK)
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={folder} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return {"ansible_python_interpreter": str(python)}


def goes_on(ledger: Ledger) -> None:
    """Wait until a writer has written more."""
    ledger.reaches(len(ledger.acknowledged) + RECORDS)


def test_clients_move_to_tokens_by_three_runs_and_scram_stays_while_somebody_uses_it(
    place: Place, tmp_path: Path
) -> None:
    cluster = place.cluster
    with contextlib.ExitStack() as writers:
        with place.writing(SCRAM) as old:
            goes_on(old)
            assert not place.lets_in(TOKENS, WRITER)
            # Behind SCRAM, by which our own clients go on to log in.
            place.use(kafka_sasl_mechanisms=[SCRAM, TOKENS], kafka_oauth=place.oauth())
            new = writers.enter_context(place.writing(TOKENS))
            goes_on(new)
            assert place.issuer.served == {WRITER}

            # First, so our own clients log in by it. Each run tries the passwords of kafka_users by SCRAM, which would
            # count as logins: who moves is not listed any more, and stays a user of SCRAM.
            oauth = place.oauth(endpoint_url=f"{place.issuer.url}/token")
            place.use(kafka_sasl_mechanisms=[TOKENS, SCRAM], kafka_oauth=oauth, kafka_users=[])
            assert place.issuer.served == {ADMIN, WRITER}
            before = cluster.pids()
            goes_on(old)
            goes_on(new)

            shown = place.status()
            assert f"CLIENT by {SCRAM}: " in shown
            assert f"CLIENT by {TOKENS}: " in shown
            assert f"CLIENT by {SCRAM}: none" not in shown
            assert "logins since" in place.refused(kafka_sasl_mechanisms=[TOKENS])
        # The last client of SCRAM has moved, and no node has restarted for it.
        goes_on(new)
        assert cluster.pids() == before

        # The count begins anew. Each broker has a login, or it would not know who uses what.
        cluster.playbook("playbooks/rolling_restart.yml").ok()
        for server in cluster.bootstrap_servers:
            client = AdminClient({**place.login(TOKENS, ADMIN), "bootstrap.servers": server})
            assert client.list_topics(timeout=20).brokers
        assert f"CLIENT by {SCRAM}: none since" in place.status()
        soon = place.refused(kafka_sasl_mechanisms=[TOKENS])
        assert f"no login by {SCRAM} in" in soon
        assert "allowed: counted for 15 min" in soon

        place.use(kafka_sasl_mechanisms=[TOKENS], **clock_ahead(tmp_path))
        goes_on(new)
        assert not place.lets_in(SCRAM, WRITER)
        assert not place.lets_in(SCRAM, ADMIN)
        assert place.lets_in(TOKENS, ADMIN)
        assert cluster.playbook().ok().changed == 0
    assert (old.failed, new.failed) == ({}, {})
    copies = read_all(cluster.bootstrap_servers, TOPIC, settings=place.login(TOKENS, ADMIN))
    assert (old.lost(copies), new.lost(copies)) == ([], [])
