"""That the tests of this scenario test something: the line is long, and there is no other way."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from tests.support.machines import Ask, Machine

# What a packet needs there and back, in milliseconds.
ROUND_TRIP = 100


def test_the_line_delays_both_directions(switch: Callable[[str], Any]) -> None:
    for proxy in switch("look").values():
        toxics = {toxic["stream"]: toxic["attributes"]["latency"] for toxic in proxy["toxics"]}
        assert set(toxics) == {"upstream", "downstream"}
        assert sum(toxics.values()) == ROUND_TRIP


def test_a_broker_answers_through_the_line_as_late_as_it_is_far_and_under_its_name(
    machines: dict[str, Machine], ask: Ask, note: Callable[[str], None]
) -> None:
    broker, line = machines["east1"], machines["line"]
    with open(broker.variables["kafka_tls_ca_file"]) as file:
        asked = {"port": broker.ports["clients MIRROR"], "ca": file.read(), "address": line.address, "name": "line"}
    began = time.monotonic()
    assert ask(machines["mirror1"], "handshake.py", asked) == "agreed TLSv1.3"
    took = (time.monotonic() - began) * 1000
    # A handshake of TLS 1.3 is one round trip; this one is answered to once more.
    assert took >= ROUND_TRIP
    note(f"line: handshake with a broker of the other data centre in {took:.0f} ms")


def test_there_is_no_other_way_to_the_other_data_centre(machines: dict[str, Machine], ask: Ask) -> None:
    brokers = [one for one in machines.values() if one.is_node and one.cluster == "dc_a"]
    mirror, line = machines["mirror1"], machines["line"]
    direct = [[one.address, port] for one in brokers for port in one.ports.values()]
    assert json.loads(ask(mirror, "scan.py", direct)) == []
    by_line = [[line.address, one.ports["clients MIRROR"]] for one in brokers]
    # Its switches are for nobody else.
    assert json.loads(ask(mirror, "scan.py", [*by_line, [line.address, 8474]])) == by_line
