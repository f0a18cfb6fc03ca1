# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of an inventory means nothing: whatever order its hosts, groups and lists are in, no byte differs.

AWX gives the hosts of a group in another order after each job.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.compared import same_file
from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import parse, to_text
from ansible_collections.streamops.kafka.plugins.module_utils._node.restart_reasons import (
    live_properties,
    restart_reasons,
)
from ansible_collections.streamops.kafka.plugins.module_utils._node.start_record import contents
from tests.support.hash_seeds import SEEDS, said
from tests.support.shuffled import REVERSED

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = [path.parent.name for path in sorted((ROOT / "inventories").glob("*/hosts.yml"))]
SCENARIOS = [path.parent.name for path in sorted((ROOT / "molecule").glob("*/molecule.yml"))]
#: Of the tests, each with what the shipped ones have too little of.
MADE = ["many", "zookeeper", "legacy"]
NAMES = [*SHIPPED, *(f"molecule/{one}" for one in SCENARIOS), *MADE]
#: All inventories in one order, whose word is given.
PROGRAM = """
import json, sys
sys.path[:0] = ['.']
from ansible.plugins.loader import init_plugin_loader
root, place, word, *names = sys.argv[1:]
init_plugin_loader([root + '/collections'])
from pathlib import Path
from tests.support import shuffled
made = {name: shuffled.everything(shuffled.inventory(name), Path(place) / name, word) for name in names}
print(json.dumps(made))
"""
#: The first is the inventory as it is written.
WORDS = ("", REVERSED, "seven")
SETS = ("controller.quorum.bootstrap.servers", "super.users", "zookeeper.connect", "max.connections.per.ip.overrides")


@pytest.fixture(scope="module")
def renderings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """By name of an inventory what it renders in each order."""
    # One path for all orders, since it is in what some inventories render.
    place = str(tmp_path_factory.mktemp("order"))
    # Those that are made have most to be put in order, so they are in all of them; each rendering takes a second.
    made = [
        json.loads(said(PROGRAM, seed, str(ROOT), place, word, *names))
        for word, seed, names in zip(WORDS, SEEDS, (NAMES, NAMES, MADE), strict=True)
    ]
    return {name: [one[name] for one in made if name in one] for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_no_order_changes_a_byte_or_a_choice_or_restarts_a_node(
    renderings: dict[str, list[dict[str, Any]]], name: str
) -> None:
    before, *others = renderings[name]
    for after in others:
        assert after.keys() == before.keys()
        for host in before:
            # As text, so that the order of keys counts where a file is made of them.
            assert json.dumps(after[host], indent=1, sort_keys=True) == json.dumps(
                before[host], indent=1, sort_keys=True
            )
            if "wanted" in before[host]:
                assert reasons(before[host]["files"], after[host]["wanted"]) == []


def reasons(files: Mapping[str, str], wanted: Mapping[str, Any]) -> list[Any]:
    """Why a node that was started with these files restarts, and what is set on it while it runs."""
    by_name = {path.rpartition("/")[2]: text for path, text in files.items()}
    main = next(by_name[name] for name in MAIN if name in by_name)
    record = contents({"server.properties": main, "jvm.options": by_name["jvm.options"]})
    assert record is not None
    # Digests and limits are in the start script, and were compared as bytes.
    compared = {"properties": wanted["properties"], "jvm": wanted["jvm"]}
    live = {key: value for key, value in live_properties(record, compared, True).items() if value is not None}
    return [*restart_reasons(record, compared, True), *live]


MAIN = ("server.properties", "zoo.cfg", "mm2.properties", "consumer.properties")


@pytest.mark.parametrize("name", ["local", "local_zookeeper", "many"])
def test_nodes_that_were_started_with_another_order_of_a_set_do_not_restart(
    renderings: dict[str, list[dict[str, Any]]], name: str
) -> None:
    turned = set()
    for host in renderings[name][0].values():
        main = next((path for path in host["files"] if path.endswith("/server.properties")), None)
        if main:
            old = host["files"][main]
            for key, value in parse(old).items():
                if turned_around(key, value) != value:
                    turned.add(key)
                    old = old.replace(to_text({key: value}), to_text({key: turned_around(key, value)}))
            assert reasons({**host["files"], main: old}, host["wanted"]) == []
            assert same_file(main, old, host["files"][main])
    assert turned & set(SETS)


def turned_around(key: str, value: str) -> str:
    """A set in the reverse order."""
    separator = ";" if key == "super.users" else ","
    servers, slash, path = value.partition("/") if key == "zookeeper.connect" else (value, "", "")
    return separator.join(reversed(servers.split(separator))) + slash + path if key in SETS else value


def test_lists_of_a_user_stay_as_they_are_written(renderings: dict[str, list[dict[str, Any]]]) -> None:
    host = renderings["many"][0]["b1"]
    files = {path.rpartition("/")[2]: text for path, text in host["files"].items()}
    found = parse(files["server.properties"])
    assert found["ssl.cipher.suites"] == "TLS_B,TLS_A"
    assert found["metric.reporters"] == "z.Z,a.A"
    assert found["log.dirs"] == "/disk2/b1,/disk1/b1"
    assert found["listener.name.client.sasl.enabled.mechanisms"] == "SCRAM-SHA-512,PLAIN"
    assert found["listeners"] == "CLIENT://:9092,BROKER://:9094,CONTROLLER://:9093"
    assert files["jvm.options"].index("-XX:MaxGCPauseMillis=50") < files["jvm.options"].index("-XX:MaxGCPauseMillis=40")
    assert found["controller.quorum.bootstrap.servers"].startswith("10.0.0.2:9093,10.0.0.10:9093")
