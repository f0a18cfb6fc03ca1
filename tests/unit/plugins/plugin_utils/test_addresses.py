"""Names to addresses, on the control node."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.plugin_utils.addresses import resolved


def test_each_name_has_its_addresses_and_one_that_does_not_exist_has_none() -> None:
    found = resolved(["localhost", "10.0.0.7", "a name with blanks"])
    assert set(found["localhost"]) <= {"127.0.0.1", "::1"}
    assert found["localhost"]
    assert found["10.0.0.7"] == ["10.0.0.7"]
    assert found["a name with blanks"] == []
