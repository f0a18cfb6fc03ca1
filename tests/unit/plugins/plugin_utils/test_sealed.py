# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that ansible-vault has sealed: told before the lock is taken where a run needs one that does not open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.parsing.vault import EncryptedString, VaultLib, VaultSecret, VaultSecretsContext
from ansible.template import Templar, trust_as_template

from ansible_collections.streamops.kafka.plugins.plugin_utils.sealed import unopened

NAMES = ["kafka_admin_password", "kafka_users"]
HOSTS = ["k1", "k2"]


def sealed(password: str, text: str = "planted-secret") -> EncryptedString:
    """Return a text as ansible-vault seals it."""
    return EncryptedString(ciphertext=VaultLib([("default", VaultSecret(password.encode()))]).encrypt(text).decode())


class HostVars:
    """Variables of hosts as a task has them: raw, or with their templates done at the time of asking."""

    def __init__(self, variables: dict[str, Any]) -> None:
        self._variables = variables

    def raw_get(self, host: str) -> dict[str, Any]:
        return self._variables

    def __getitem__(self, host: str) -> Any:
        return Templated(self._variables)


class Templated(dict[str, Any]):
    """Variables whose templates are done when they are asked for."""

    def __getitem__(self, name: str) -> Any:
        return Templar(DataLoader(), dict(self)).template(super().__getitem__(name))


@pytest.fixture
def with_password() -> Iterator[Callable[[str], None]]:
    """Give the run the password of a vault, or none."""
    VaultSecretsContext._current = None

    def give(password: str) -> None:
        secrets = [("default", VaultSecret(password.encode()))] if password else []
        VaultSecretsContext.initialize(VaultSecretsContext(secrets))

    yield give
    VaultSecretsContext._current = None


def refusals(variables: dict[str, Any]) -> list[str]:
    return unopened(HostVars(variables), HOSTS, NAMES)


@pytest.mark.parametrize("password", ["", "another"], ids=["without a password", "with another one"])
def test_variables_that_do_not_open_are_named_with_their_hosts_and_the_fix(
    with_password: Callable[[str], None], password: str
) -> None:
    with_password(password)
    by_name = trust_as_template("{{ vault_x }}")
    variables = {
        "vault_x": sealed("right"),
        "kafka_admin_password": by_name,
        "kafka_users": [{"name": "a", "password": by_name}],
    }
    (refusal,) = refusals(variables)
    assert "for kafka_admin_password, kafka_users on k1, k2" in refusal
    assert "attach the vault credential" in refusal
    assert "planted-secret" not in refusal


def test_a_run_with_the_password_is_not_refused(with_password: Callable[[str], None]) -> None:
    with_password("right")
    assert refusals({"kafka_admin_password": sealed("right")}) == []


def test_what_the_run_does_not_read_may_stay_shut(with_password: Callable[[str], None]) -> None:
    with_password("right")
    assert refusals({"kafka_admin_password": sealed("right"), "password_of_another_team": sealed("other")}) == []


def test_another_fault_of_a_variable_is_not_told_as_a_sealed_one(with_password: Callable[[str], None]) -> None:
    with_password("")
    wrong = {"kafka_users": trust_as_template("{{ no_such_variable }}"), "another": sealed("right")}
    assert refusals(wrong) == []
