# SPDX-License-Identifier: GPL-3.0-or-later
"""Names are resolved as the host resolves them; what it does not know has no address."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.module_utils._node.names import names


def test_a_known_name_has_addresses_and_an_unknown_one_has_none() -> None:
    found = names(["localhost", "no-such-host.invalid", "a" * 70 + ".invalid"])
    assert list(found) == ["localhost", "no-such-host.invalid", "a" * 70 + ".invalid"]
    assert found["localhost"]
    assert set(found["localhost"]) <= {"127.0.0.1", "::1"}
    assert found["no-such-host.invalid"] == found["a" * 70 + ".invalid"] == []


def test_nothing_asked_is_nothing_answered() -> None:
    assert names([]) == {}
