"""Setting credentials: in which order, and whose login is waited for, when the one who asks is among them."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import AccessRefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._users import apply
from ansible_collections.streamops.kafka.plugins.module_utils._users.login import Login

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


class Admin:
    """The calls of the client that users need."""

    cluster = Cluster()

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def __enter__(self) -> Admin:
        renewed = self.connection.sasl_password != FORMER.sasl_password
        if renewed and not self.cluster.takes("admin", "SCRAM-SHA-512"):
            raise AccessRefusedError({"b1:9092": "it refuses the login of user admin"}, ["Correct sasl_password."])
        return self

    def __exit__(self, *_exc: object) -> None:
        pass

    def credentials(self, _at: int | None = None) -> dict[str, dict[str, int]]:
        """All of them."""
        return self.cluster.set

    def brokers(self) -> tuple[()]:
        """None is asked."""
        return ()

    def alter_credentials(self, upserts: Any, _deletions: Any) -> dict[str, Any]:
        """Take them."""
        for name, mechanism, iterations, *_secret in upserts:
            self.cluster.asked.append((name, mechanism))
            self.cluster.set.setdefault(name, {})[mechanism] = iterations
        return {}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """An empty one."""
    monkeypatch.setattr(Admin, "cluster", found := Cluster())
    monkeypatch.setattr(apply, "log_in", lambda _login, wish: found.takes(wish.name, wish.mechanism))
    return found


def ensure(*users: tuple[str, str], login: Login | None = None) -> dict[str, Any]:
    """Have these users with a new password."""
    admin: Any = Admin(FORMER)
    wanted = [{"name": name, "mechanism": mechanism, "password": "new"} for name, mechanism in users]
    return apply.ensure_users(admin, wanted, "always", login, 20, check=False, diff=False)


LOGIN = Login(FORMER, 1)


@pytest.mark.parametrize("names", [("admin", "bob"), ("bob", "admin")])
@pytest.mark.parametrize("login", [LOGIN, None])
def test_ones_own_new_password_is_set_last_and_waited_for(
    cluster: Cluster, names: tuple[str, str], login: Login | None
) -> None:
    result = ensure(*((name, "SCRAM-SHA-512") for name in names), login=login)
    assert result["created"] == list(names)
    assert [name for name, _mechanism in cluster.asked] == ["bob", "admin"]
    assert cluster.takes("admin", "SCRAM-SHA-512")


def test_the_password_that_was_set_last_is_the_one_that_is_waited_for(cluster: Cluster) -> None:
    ensure(*(("ann", mechanism) for mechanism in BOTH), ("bob", "SCRAM-SHA-256"), login=LOGIN)
    assert cluster.asked[-1] == ("ann", "SCRAM-SHA-256")
    assert ("ann", "SCRAM-SHA-256") in cluster.logins
