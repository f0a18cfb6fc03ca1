"""What network interfaces carry, from the kernel's counters, and how names are resolved."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.module_utils._node.network import busiest, counters, names, rate

TEXT = """\
Inter-| Receive | Transmit
 face |bytes packets errs | bytes packets errs
    lo: 900 1 0 0 0 0 0 0 900 1 0 0 0 0 0 0
  eth0: 1000 5 0 0 0 0 0 0 2000 6 0 0 0 0 0 0
eth1:70 1 0 0 0 0 0 0 80 1 0 0 0 0 0 0
"""


def test_counters_are_read_by_interface_without_the_loopback() -> None:
    assert counters(TEXT) == {"eth0": (1000, 2000), "eth1": (70, 80)}


def test_the_busiest_interface_is_told_in_bytes_a_second_each_way() -> None:
    after = {"eth0": (1000, 2600), "eth1": (470, 80), "new": (9999, 9999)}
    assert rate(counters(TEXT), after, 2.0) == {
        "interface": "eth0",
        "received_bytes_per_second": 0,
        "sent_bytes_per_second": 300,
    }


def test_without_an_interface_nothing_is_told() -> None:
    assert rate({}, {"eth0": (1, 1)}, 1.0) is None


def test_this_machine_has_counters() -> None:
    found = busiest(0.01)
    assert found is None or found["sent_bytes_per_second"] >= 0


def test_a_known_name_has_addresses_and_an_unknown_one_has_none() -> None:
    found = names(["localhost", "no-such-host.invalid", "a" * 70 + ".invalid"])
    assert list(found) == ["localhost", "no-such-host.invalid", "a" * 70 + ".invalid"]
    assert found["localhost"]
    assert set(found["localhost"]) <= {"127.0.0.1", "::1"}
    assert found["no-such-host.invalid"] == found["a" * 70 + ".invalid"] == []


def test_nothing_asked_is_nothing_answered() -> None:
    assert names([]) == {}
