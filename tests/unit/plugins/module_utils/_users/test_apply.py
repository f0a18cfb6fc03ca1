"""Setting credentials: in which order, and whose login is waited for, when the one who asks is among them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import AccessRefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._users import apply

FORMER = Connection(("b1:9092",), "SASL_PLAINTEXT", "SCRAM-SHA-512", "admin", "former")
BOTH = ("SCRAM-SHA-512", "SCRAM-SHA-256")


class Cluster:
    """Knows at once what was set, but its brokers take a new password only at the third login with it."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.logins: dict[tuple[str, str], int] = {}
        self.set: dict[str, dict[str, int]] = {}

    def takes(self, name: str, mechanism: str) -> bool:
        """One more login with the new password."""
        self.logins[name, mechanism] = self.logins.get((name, mechanism), 0) + 1
        return self.logins[name, mechanism] > 2


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """An empty one, which every session of these tests is with."""
    found = Cluster()

    class Opened:
        """A session that is refused as long as the brokers do not take its new password."""

        def __init__(self, connection: Connection) -> None:
            self.connection = connection

        def __enter__(self) -> Opened:
            renewed = self.connection.sasl_password != FORMER.sasl_password
            if renewed and not found.takes("admin", "SCRAM-SHA-512"):
                raise AccessRefusedError({"b1:9092": "it refuses the login of user admin"}, ["Correct sasl_password."])
            return self

        def __exit__(self, *_exc: object) -> None:
            pass

    def alter(_session: Any, upserts: Any, _deletions: Any) -> dict[str, Any]:
        for name, mechanism, iterations, *_secret in upserts:
            found.asked.append((name, mechanism))
            found.set.setdefault(name, {})[mechanism] = iterations
        return {}

    monkeypatch.setattr(apply, "Session", Opened)
    monkeypatch.setattr(apply, "describe_credentials", lambda _session, _at=None: found.set)
    monkeypatch.setattr(apply, "live_brokers", lambda _session: [])
    monkeypatch.setattr(apply, "alter_credentials", alter)
    monkeypatch.setattr(apply, "log_in", lambda _login, spec: found.takes(spec.name, spec.mechanism))
    return found


def ensure(*users: tuple[str, str], protocol: str | None = None, check: bool = False, **fields: Any) -> dict[str, Any]:
    """Have these users with a new password; a protocol without SASL has no logins to try.

    fields -- of each entry.
    """
    own = replace(FORMER, security_protocol=protocol or FORMER.security_protocol)
    params = {
        "users": [{"name": name, "mechanism": mechanism, "password": "new", **fields} for name, mechanism in users],
        "update_password": "always",
        "login_bootstrap_servers": None,
        "login_security_protocol": None,
        "login_timeout": 1,
        "timeout": 20,
    }
    return apply.ensure_users(apply.Session(own), params, check=check, diff=True)


@pytest.mark.parametrize("names", [("admin", "bob"), ("bob", "admin")])
@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SSL"])
def test_ones_own_new_password_is_set_last_and_waited_for(
    cluster: Cluster, names: tuple[str, str], protocol: str
) -> None:
    result = ensure(*((name, "SCRAM-SHA-512") for name in names), protocol=protocol)
    assert result["created"] == list(names)
    assert [name for name, _mechanism in cluster.asked] == ["bob", "admin"]
    assert cluster.takes("admin", "SCRAM-SHA-512")


def test_the_password_that_was_set_last_is_the_one_that_is_waited_for(cluster: Cluster) -> None:
    ensure(*(("ann", mechanism) for mechanism in BOTH), ("bob", "SCRAM-SHA-256"))
    assert cluster.asked[-1] == ("ann", "SCRAM-SHA-256")
    assert ("ann", "SCRAM-SHA-256") in cluster.logins


@pytest.mark.parametrize("check", [True, False])
def test_a_user_of_on_create_is_never_tried_and_only_created(cluster: Cluster, check: bool) -> None:
    cluster.set["moved"] = {"SCRAM-SHA-512": 4096}
    result = ensure(("moved", "SCRAM-SHA-512"), ("new", "SCRAM-SHA-512"), check=check, update_password="on_create")
    assert (result["created"], result["updated"], result["unchanged"], result["unproven"]) == (["new"], [], 1, [])
    assert list(result["diff"]["after"]) == ["new"]
    assert cluster.asked == ([] if check else [("new", "SCRAM-SHA-512")])
    assert cluster.logins == {}
