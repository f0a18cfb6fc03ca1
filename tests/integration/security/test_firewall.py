"""The firewall in a real kernel: hosts that are network namespaces connect, and the rules decide who gets in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._firewall.text import table_text
from ansible_collections.streamops.kafka.plugins.plugin_utils.render import firewall
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.view import View
from tests.support.inventory_data import DataReader
from tests.support.networks import STAY, Namespace, missing, network

MISSING = missing()
# In continuous integration nobody would see a skip: there the tests fail where they cannot run.
pytestmark = pytest.mark.skipif(MISSING is not None and not os.environ.get("CI"), reason=f"real kernel: {MISSING}")

MACHINE, BROKER, GATEWAY, STRANGER = "10.77.0.1", "10.77.0.2", "10.77.0.3", "10.77.0.4"
HOSTS = {
    "machine": [f"{MACHINE}/24", "10.77.0.101/24", "fd77::1/64"],
    "broker": [f"{BROKER}/24", "fd77::2/64"],
    "gateway": [f"{GATEWAY}/24", "fd77::3/64"],
    "stranger": [f"{STRANGER}/24", "fd77::4/64"],
}
SSH, UNRELATED = 22, 8081
CLIENT, INTER, CONTROLLER = 9092, 9094, 9093
MODULE = "streamops.kafka.firewall"


def wish(*, gone: tuple[str, ...] = (), **cluster: Any) -> list[dict[str, Any]]:
    """The rules of the machine from an inventory: two combined nodes and a host that submits Spark jobs."""
    nodes = {"node1": [MACHINE, "fd77::1"], "node2": [BROKER, "fd77::2"]}
    hostvars = {
        name: {
            "ansible_host": addresses[0],
            "kafka_firewall_addresses": addresses,
            "kafka_firewall": True,
            "kafka_listeners": [
                {"name": "CLIENT", "port": CLIENT, "purpose": "clients"},
                {"name": "BROKER", "port": INTER, "purpose": "brokers"},
                {"name": "CONTROLLER", "port": CONTROLLER, "purpose": "controllers"},
            ],
            **cluster,
        }
        for name, addresses in nodes.items()
    }
    hostvars["gateway"] = {"ansible_host": GATEWAY, "kafka_firewall_addresses": [GATEWAY, "fd77::3"]}
    members = [name for name in nodes if name not in gone]
    groups = {
        "kafka_brokers": members,
        "kraft_controllers": members,
        "spark_gateway": [] if "gateway" in gone else ["gateway"],
    }
    places = View(DataReader(hostvars, groups, kafka_firewall_client_groups=["spark_gateway"]))["places"]
    return firewall.rules(places, "node1", {})


@pytest.fixture(scope="module")
def cabled() -> Iterator[dict[str, Namespace]]:
    with network(HOSTS, [SSH, UNRELATED, CLIENT, INTER, CONTROLLER]) as made:
        yield made


@pytest.fixture
def hosts(cabled: dict[str, Namespace]) -> dict[str, Namespace]:
    """All hosts, none of which filters anything yet."""
    cabled["machine"].run("nft", "flush", "ruleset")
    return cabled


@pytest.fixture
def load(hosts: dict[str, Namespace], tmp_path: Path) -> Callable[[list[dict[str, Any]]], None]:
    """Loads the table of these rules on the machine, as its service does at boot."""

    def run(rules: list[dict[str, Any]]) -> None:
        (tmp_path / "table.nft").write_text(table_text(rules))
        hosts["machine"].run("nft", "--file", str(tmp_path / "table.nft"))

    return run


@pytest.fixture
def module(hosts: dict[str, Namespace], tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Runs the module on the machine; its file is firewall.nft."""

    def run(
        rules: list[dict[str, Any]], *, check: bool = False, diff: bool = False, fails: bool = False, **more: Any
    ) -> dict[str, Any]:
        params = {"rules": rules, "path": str(tmp_path / "firewall.nft"), **more}
        result = hosts["machine"].module(MODULE, params, check=check, diff=diff)
        assert result["failed"] == fails, result
        return result

    return run


def seen(hosts: dict[str, Namespace], port: int, address: str = MACHINE) -> dict[str, str]:
    """What each host but the machine sees of a port."""
    return {name: host.connect(address, port) for name, host in hosts.items() if name != "machine"}


def test_each_port_lets_in_exactly_those_of_its_purpose_over_both_protocols(hosts: dict[str, Any], load: Any) -> None:
    everybody = {"broker": "open", "gateway": "open", "stranger": "open"}
    assert seen(hosts, CLIENT) == everybody
    load(wish())
    nodes = {"broker": "open", "gateway": "refused", "stranger": "refused"}
    for address in (MACHINE, "fd77::1"):
        assert seen(hosts, CLIENT, address) == {**nodes, "gateway": "open"}
        assert seen(hosts, INTER, address) == nodes
        assert seen(hosts, CONTROLLER, address) == nodes
        for port in (SSH, UNRELATED):
            assert seen(hosts, port, address) == everybody, "a port that is not ours was touched"


def test_the_machine_itself_reaches_its_ports_on_every_address(hosts: dict[str, Any], load: Any) -> None:
    load([{"port": CLIENT, "address": "", "sources": [], "comment": "nobody"}])
    for address in ("127.0.0.1", "::1", MACHINE, "fd77::1"):
        assert hosts["machine"].connect(address, CLIENT) == "open"
    assert hosts["broker"].connect(MACHINE, CLIENT) == "refused"


def test_a_named_network_opens_the_clients_port_and_no_other(hosts: dict[str, Any], load: Any) -> None:
    load(wish(kafka_firewall_networks={"clients": ["10.77.0.4/31"]}))
    assert hosts["stranger"].connect(MACHINE, CLIENT) == "open"
    assert hosts["stranger"].connect("fd77::1", CLIENT) == "refused"
    assert hosts["stranger"].connect(MACHINE, INTER) == "refused"
    load(wish(kafka_firewall_networks={"clients": ["0.0.0.0/0"]}))
    assert hosts["stranger"].connect(MACHINE, CLIENT) == "open"
    assert hosts["stranger"].connect("fd77::1", CLIENT) == "refused"


def test_a_host_that_leaves_the_inventory_loses_its_access_and_its_open_connection(
    hosts: dict[str, Any], load: Any
) -> None:
    load(wish())
    with (
        hosts["gateway"].process(STAY, MACHINE, str(CLIENT)) as client,
        hosts["broker"].process(STAY, MACHINE, str(CLIENT)) as broker,
    ):

        def says(process: Any) -> str:
            process.stdin.write("hello\n")
            process.stdin.flush()
            return str(process.stdout.readline().strip())

        assert (says(client), says(broker)) == ("answered", "answered")
        load(wish(gone=("gateway",)))
        assert (says(client), says(broker)) == ("reset", "answered")
    assert seen(hosts, CLIENT) == {"broker": "open", "gateway": "refused", "stranger": "refused"}


def test_nodes_that_share_a_port_are_told_apart_by_their_address(hosts: dict[str, Any], load: Any) -> None:
    rules = [
        {"port": CLIENT, "address": MACHINE, "sources": [BROKER], "comment": "node1"},
        {"port": CLIENT, "address": "10.77.0.101", "sources": [GATEWAY, "fd77::3"], "comment": "node9"},
    ]
    load(rules)
    assert seen(hosts, CLIENT) == {"broker": "open", "gateway": "refused", "stranger": "refused"}
    assert seen(hosts, CLIENT, "10.77.0.101") == {"broker": "refused", "gateway": "open", "stranger": "refused"}


def test_changed_is_reported_when_file_or_kernel_really_change(
    hosts: dict[str, Any], module: Any, tmp_path: Path
) -> None:
    machine = hosts["machine"]
    planned = module(wish(), check=True, diff=True)
    assert planned["changed"]
    assert "dport vmap" in planned["diff"][0]["after"]
    assert not (tmp_path / "firewall.nft").exists()
    assert hosts["stranger"].connect(MACHINE, CLIENT) == "open", "check mode changed the kernel"
    assert module(wish())["changed"]
    assert not module(wish())["changed"]
    assert not module(list(reversed(wish())))["changed"]
    machine.run("nft", "insert", "rule", "inet", "streamops_kafka", f"port_{CLIENT}", "accept")
    drifted = module(wish(), diff=True, check=True)
    assert drifted["changed"]
    assert "\t\taccept\n" in drifted["diff"][0]["before"]
    assert "\t\taccept\n" not in drifted["diff"][0]["after"]
    assert module(wish())["changed"]
    assert hosts["stranger"].connect(MACHINE, CLIENT) == "refused"
    machine.run("nft", "flush", "ruleset")
    assert module(wish())["changed"]
    assert hosts["stranger"].connect(MACHINE, CLIENT) == "refused"


def test_without_rules_table_and_file_go_and_nothing_of_others(
    hosts: dict[str, Any], module: Any, tmp_path: Path
) -> None:
    machine = hosts["machine"]
    machine.run("nft", "add", "table", "inet", "theirs")
    assert not module([])["changed"]
    module(wish())
    assert module([])["changed"]
    assert not (tmp_path / "firewall.nft").exists()
    assert machine.run("nft", "list", "tables").split() == ["table", "inet", "theirs"]
    assert hosts["stranger"].connect(MACHINE, INTER) == "open"


def test_the_file_loads_by_itself_as_at_boot_and_twice(hosts: dict[str, Any], module: Any, tmp_path: Path) -> None:
    module(wish())
    machine = hosts["machine"]
    listed = machine.run("nft", "-s", "list", "ruleset")
    machine.run("nft", "flush", "ruleset")
    for _time in range(2):
        machine.run("nft", "--file", str(tmp_path / "firewall.nft"))
        assert machine.run("nft", "-s", "list", "ruleset") == listed


def test_a_chain_of_another_firewall_that_blocks_a_port_is_named(hosts: dict[str, Any], module: Any) -> None:
    machine = hosts["machine"]
    machine.run(
        "nft",
        "add table ip filter; add chain ip filter INPUT { type filter hook input priority 0; policy drop; };"
        "add chain ip filter ufw-user-input; add rule ip filter INPUT iifname lo accept;"
        "add rule ip filter INPUT jump ufw-user-input; add rule ip filter ufw-user-input tcp dport 22 accept;"
        f"add rule ip filter ufw-user-input ip saddr {BROKER} tcp dport {{ {CLIENT}, {INTER}, {CONTROLLER} }} accept",
    )
    result = module(wish())
    assert hosts["gateway"].connect(MACHINE, CLIENT) == "no answer"
    assert hosts["broker"].connect(MACHINE, CLIENT) == "open"
    assert [(one["owner"], one["port"], one["sources"]) for one in result["foreign"]] == [
        ("ufw", CLIENT, [MACHINE, BROKER, GATEWAY]),
        ("ufw", CONTROLLER, [MACHINE, BROKER]),
        ("ufw", INTER, [MACHINE, BROKER]),
    ]
    (warning,) = result["warnings"]
    assert "ufw (table ip filter, chain INPUT: its policy is drop) can refuse connections" in warning
    assert f"let it accept TCP {CLIENT} from {MACHINE}, {BROKER}, {GATEWAY}; TCP {CONTROLLER} from" in warning
    result = module(wish(), checked=["ufw"])
    assert result["foreign"][0]["checked"]
    assert not result.get("warnings")


@pytest.mark.parametrize(
    ("verdict", "warned"), [("accept", False), ("tcp dport 9092 drop", True), ("ip saddr 10.77.0.3 reject", True)]
)
def test_a_rule_in_a_chain_that_another_firewall_jumps_to_is_found(
    hosts: dict[str, Any], module: Any, verdict: str, warned: bool
) -> None:
    hosts["machine"].run(
        "nft",
        "add table inet theirs; add chain inet theirs in { type filter hook input priority 10; };"
        "add chain inet theirs side; add map inet theirs way { type inet_service : verdict; };"
        "add element inet theirs way { 9092 : goto side }; add rule inet theirs in tcp dport vmap @way;"
        "add chain inet theirs forward { type filter hook forward priority 0; policy drop; };"
        f"add rule inet theirs side {verdict}",
    )
    result = module(wish())
    assert [one["chain"] for one in result["foreign"]] == ["in"] * 3 * warned
    assert (hosts["gateway"].connect(MACHINE, CLIENT) == "open") is not warned


def test_what_nft_refuses_changes_nothing(hosts: dict[str, Any], module: Any, tmp_path: Path) -> None:
    module(wish())
    before = (tmp_path / "firewall.nft").read_text()
    bad = [{"port": 70000, "sources": [BROKER]}]
    result = hosts["machine"].module(MODULE, {"rules": bad, "path": str(tmp_path / "firewall.nft")})
    assert result["failed"]
    assert "Nothing was changed" in result["msg"]
    assert (tmp_path / "firewall.nft").read_text() == before
    assert seen(hosts, CLIENT) == {"broker": "open", "gateway": "open", "stranger": "refused"}


def test_a_table_that_would_cut_an_open_connection_is_refused_until_that_is_accepted(
    hosts: dict[str, Any], module: Any, tmp_path: Path
) -> None:
    with (
        hosts["gateway"].process(STAY, MACHINE, str(INTER)),
        hosts["gateway"].process(STAY, "fd77::1", str(INTER)),
        hosts["broker"].process(STAY, MACHINE, str(INTER)),
        hosts["stranger"].process(STAY, MACHINE, str(SSH)),
        hosts["machine"].process(STAY, "10.77.0.101", str(INTER)),
    ):
        for check in (True, False):
            told = module(wish(), check=check, fails=True)["msg"]
            assert f"{GATEWAY} to port {INTER} (brokers): 1 connection, fd77::3 to port {INTER} (brokers)" in told
            assert "kafka_firewall_accept_cuts" in told
            assert BROKER not in told, "a connection that stays is named"
            assert STRANGER not in told, "a port that is not ours is judged"
            assert not (tmp_path / "firewall.nft").exists()
            assert hosts["machine"].run("nft", "list", "ruleset") == ""
        planned = module(wish(), check=True, diff=True, accept_cuts=["10.77.0.0/24", "fd77::3"])
        assert GATEWAY in planned["diff"][1]["before"]
        assert module(wish(), accept_cuts=["10.77.0.0/24", "fd77::3"])["cuts"] == [
            {"peer": GATEWAY, "port": INTER, "purpose": "brokers", "connections": 1},
            {"peer": "fd77::3", "port": INTER, "purpose": "brokers", "connections": 1},
        ]
        assert not module(wish())["changed"], "without a change nothing is cut, so nothing is compared"


def test_the_session_of_an_administrator_is_no_exception(hosts: dict[str, Any], module: Any) -> None:
    with hosts["stranger"].process(STAY, MACHINE, str(SSH)):
        rules = [{"port": SSH, "purpose": "clients", "sources": [BROKER]}]
        assert f"{STRANGER} to port {SSH}" in module(rules, fails=True)["msg"]


def test_a_network_to_cut_that_is_none_is_named(module: Any) -> None:
    assert "accept_cuts: 'gateway'" in module(wish(), accept_cuts=["gateway"], fails=True)["msg"]
