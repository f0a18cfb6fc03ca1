"""Who asks which listeners of a node whether they answer, and what is said of those that nobody asks."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.render.answers import FIXES, MOST_PEERS, Plan, plan
from tests.support.inventory_data import View, view

CLIENT = {"name": "CLIENT", "port": 9092, "purpose": "clients"}
BROKER = {"name": "BROKER", "port": 9094, "purpose": "brokers"}
CONTROLLER = {"name": "CONTROLLER", "port": 9093, "purpose": "controllers"}
SECURED = [{**CLIENT, "protocol": "SASL_SSL"}, {**BROKER, "protocol": "SSL"}, {**CONTROLLER, "protocol": "SSL"}]
COMMON = {"kafka_config_dir": "/etc/kafka", "kafka_cluster_name": "events"}


def hosts(*names: str, machines: int = 99, racks: int = 0, **more: Any) -> dict[str, dict[str, Any]]:
    """Nodes with ids, spread over machines and racks in turn."""
    return {
        name: {
            "ansible_host": f"10.0.0.{number % machines + 1}",
            "kafka_node_id": number + 1,
            "kafka_rack": f"r{number % racks}" if racks else "",
            **COMMON,
            **more,
        }
        for number, name in enumerate(names)
    }


def combined(host: str = "kafka1", nodes: int = 3, **more: Any) -> View:
    """Combined nodes."""
    made = hosts(*(f"kafka{number}" for number in range(1, nodes + 1)), **more)
    return view(made, brokers=list(made), controllers=list(made), host=host)


def isolated(host: str, brokers: int = 3, **more: Any) -> View:
    """Three controllers and some brokers."""
    controllers, others = [f"c{one}" for one in (1, 2, 3)], [f"b{one}" for one in range(1, brokers + 1)]
    return view(hosts(*controllers, *others, **more), brokers=others, controllers=controllers, host=host)


def planned(model: View) -> Plan:
    """The plan of the host that asks."""
    return plan(model["places"], model["node"]["host"], model["properties"].get("max.connections.per.ip"))


def by_listener(found: Plan) -> dict[str, list[str]]:
    """Who asks each listener; C is the control node."""
    asked: dict[str, list[str]] = {}
    for host, listeners in [*found.by_node.items(), ("C", found.by_control_node)]:
        for listener in listeners:
            asked.setdefault(listener["name"], []).append(host)
    return asked


def test_nodes_ask_what_nodes_connect_to_and_the_control_node_what_clients_do() -> None:
    found = planned(combined())
    assert by_listener(found) == {
        "BROKER": ["kafka2", "kafka3"],
        "CONTROLLER": ["kafka2", "kafka3"],
        "CLIENT": ["C"],
    }
    assert found.unchecked == []
    assert found.by_control_node == [
        {
            "node": "kafka1",
            "name": "CLIENT",
            "host": "10.0.0.1",
            "port": 9092,
            "protocol": "PLAINTEXT",
            "connections": 1,
            "node_id": 1,
            "cluster_id": "",
            "role": "broker",
        }
    ]
    assert [one["role"] for one in found.by_node["kafka2"]] == ["broker", "controller"]


def test_the_port_that_is_advertised_is_asked() -> None:
    listeners = [{**CLIENT, "advertised_port": 19092}, BROKER, {**CONTROLLER, "advertised_port": 19093}]
    asked = planned(combined(kafka_listeners=listeners))
    assert [question["port"] for question in asked.by_control_node] == [19092]
    assert {question["port"] for questions in asked.by_node.values() for question in questions} == {
        BROKER["port"],
        19093,
    }


def test_brokers_and_controllers_ask_a_controller_and_brokers_a_broker() -> None:
    asked = by_listener(planned(isolated("c1")))
    assert set(asked) == {"CONTROLLER"}
    assert set(asked["CONTROLLER"]) == {"c2", "c3", "b1", "b2", "b3"}
    # Five of many still are of both kinds.
    many = by_listener(planned(isolated("c1", brokers=20)))["CONTROLLER"]
    assert len(many) == MOST_PEERS
    assert {name[0] for name in many} == {"b", "c"}
    assert by_listener(planned(isolated("b2"))) == {"BROKER": ["b1", "b3"], "CLIENT": ["C"]}


def test_brokers_of_zookeeper_mode() -> None:
    made = hosts("b1", "b2", "z1", kafka_mode="zookeeper", kafka_listeners=[CLIENT, BROKER])
    model = view(made, brokers=["b1", "b2"], zookeepers=["z1"], host="b1")
    assert by_listener(planned(model)) == {"BROKER": ["b2"], "CLIENT": ["C"]}


def test_brokers_without_a_listener_of_their_own_ask_that_for_clients() -> None:
    assert by_listener(planned(combined(kafka_listeners=[CLIENT, CONTROLLER]))) == {
        "CLIENT": ["kafka2", "kafka3", "C"],
        "CONTROLLER": ["kafka2", "kafka3"],
    }


def test_of_a_node_alone_only_the_control_node_asks_and_the_rest_is_said() -> None:
    found = planned(combined(nodes=1))
    assert by_listener(found) == {"CLIENT": ["C"]}
    assert found.by_control_node[0]["connections"] == 1
    assert found.unchecked == [
        "kafka1: listener BROKER is not checked: no other node connects to it",
        "kafka1: listener CONTROLLER is not checked: no other node connects to it",
    ]


def test_other_machines_ask_first_then_other_racks() -> None:
    beside = combined(nodes=9, machines=2)
    assert by_listener(planned(beside))["BROKER"] == ["kafka2", "kafka4", "kafka6", "kafka8", "kafka3"]
    spread = combined(nodes=9, racks=3)
    racks = {node["host"]: node["rack"] for node in spread["nodes"]}
    assert {racks[host] for host in by_listener(planned(spread))["BROKER"][:3]} == {"r0", "r1", "r2"}


def test_mirrors_and_other_clusters_ask_nothing() -> None:
    made = {**hosts("kafka1", "kafka2", "mirror1"), "other1": {**hosts("other1")["other1"], "kafka_cluster_name": "x"}}
    nodes = ["kafka1", "kafka2", "other1"]
    model = view(made, brokers=nodes, controllers=nodes, mirrors=["mirror1"], host="kafka1")
    assert list(planned(model).by_node) == ["kafka2"]


# -- how many connections ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nodes", "config", "connections"),
    [
        (3, {}, 2),
        (30, {}, 29),
        (30, {"max.connections.per.ip": 20}, 10),
        (3, {"max.connections.per.ip": 1}, 1),
    ],
)
def test_as_many_connections_as_peers_and_never_more_than_one_address_may_have(
    nodes: int, config: dict[str, Any], connections: int
) -> None:
    found = planned(combined(nodes=nodes, kafka_config=config))
    assert {one["connections"] for one in found.by_node["kafka2"]} == {connections}


# -- what is left out --------------------------------------------------------------------------------------------


def with_places(listener: dict[str, Any], *places: str) -> list[dict[str, Any]]:
    """The usual listeners, one of them with checked_from."""
    return [{**one, "checked_from": list(places)} if one is listener else one for one in (CLIENT, BROKER, CONTROLLER)]


def test_the_inventory_may_leave_a_listener_out_and_that_is_said() -> None:
    found = planned(combined(kafka_listeners=with_places(CLIENT)))
    assert "CLIENT" not in by_listener(found)
    said = "kafka1: listener CLIENT is not checked: its checked_from (kafka_listeners) names no place"
    assert found.unchecked == [said]


def test_the_inventory_may_name_other_places() -> None:
    found = by_listener(planned(combined(kafka_listeners=with_places(CLIENT, "nodes"))))
    assert found["CLIENT"] == ["kafka2", "kafka3"]
    both = by_listener(planned(combined(kafka_listeners=with_places(BROKER, "nodes", "control_node"))))
    assert both["BROKER"] == ["kafka2", "kafka3", "C"]


def test_a_listener_for_the_outside_is_not_asked_unless_the_inventory_says_so() -> None:
    outside = {"name": "OUTSIDE", "port": 9095, "purpose": "clients", "advertised_host": "kafka1.example.com"}
    found = planned(combined(kafka_listeners=[CLIENT, BROKER, CONTROLLER, outside]))
    assert "OUTSIDE" not in by_listener(found)
    (said,) = found.unchecked
    assert said.startswith("kafka1: listener OUTSIDE is not checked: administration uses another one; ")
    asked = planned(
        combined(kafka_listeners=[CLIENT, BROKER, CONTROLLER, {**outside, "checked_from": ["control_node"]}])
    )
    assert by_listener(asked)["OUTSIDE"] == ["C"]
    # At the same address it may take other logins.
    near = {**outside, "advertised_host": None}
    assert "OUTSIDE" not in by_listener(planned(combined(kafka_listeners=[CLIENT, BROKER, CONTROLLER, near])))


def test_the_firewall_of_the_inventory_keeps_the_control_node_out() -> None:
    found = planned(combined(kafka_firewall=True))
    assert by_listener(found) == {"BROKER": ["kafka2", "kafka3"], "CONTROLLER": ["kafka2", "kafka3"]}
    (said,) = found.unchecked
    assert said.endswith("the firewall lets no administrator connect (kafka_firewall_admin_addresses)")
    let_in = {"kafka_firewall": True, "kafka_firewall_admin_addresses": ["10.0.9.5"]}
    assert by_listener(planned(combined(**let_in)))["CLIENT"] == ["C"]
    inner = planned(combined(**let_in, kafka_listeners=with_places(BROKER, "control_node")))
    assert inner.unchecked == [
        "kafka1: listener BROKER is not checked: the firewall (kafka_firewall) lets only nodes connect to it"
    ]


def test_the_control_node_shows_no_certificate_of_a_node() -> None:
    listeners = [SECURED[0], {**SECURED[1], "checked_from": ["control_node"]}, SECURED[2]]
    (said,) = planned(combined(kafka_listeners=listeners, kafka_tls_source="files")).unchecked
    assert said.endswith("the control node has no certificate of a node, which it asks for")


# -- the key of the model ----------------------------------------------------------------------------------------


def test_nodes_show_their_own_certificates_and_the_control_node_the_administrators_login() -> None:
    more = {"kafka_admin_user": "admin", "kafka_admin_password": "s3cret", "kafka_tls_ca_file": "/ca.pem"}
    answers = combined(kafka_listeners=SECURED, kafka_tls_source="files", **more)["answers"]
    of_kafka2, of_kafka3 = answers["by_node"]
    assert [of_kafka2["host"], of_kafka3["host"]] == ["kafka2", "kafka3"]
    store = "/etc/kafka/kafka2/tls/keystore.pem"
    assert {name: value for name, value in of_kafka2["options"].items() if name != "listeners"} == {
        "ssl_ca_location": "/etc/kafka/kafka2/tls/truststore.pem",
        "ssl_certificate_location": store,
        "ssl_key_location": store,
        "ssl_check_hostname": True,
    }
    unnamed = {"kafka_config": {"ssl.endpoint.identification.algorithm": ""}}
    answers = combined(kafka_listeners=SECURED, kafka_tls_source="files", **more, **unnamed)["answers"]
    assert answers["by_node"][0]["options"]["ssl_check_hostname"] is False
    of_control_node = answers["by_control_node"]
    assert {name: value for name, value in of_control_node.items() if name != "listeners"} == {
        "ssl_ca_location": "/ca.pem",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_username": "admin",
        "sasl_password": "s3cret",
    }
    assert combined()["answers"]["by_node"][0]["options"].keys() == {"listeners"}


def silent(stage: str) -> dict[str, Any]:
    """One listener that did not answer."""
    return {"node": "kafka1", "listener": "BROKER", "address": "127.0.0.9:9094", "stage": stage, "why": "because"}


def left(**results: Any) -> View:
    """The model after the questions."""
    of_nodes = [{**one, "__common_answers_ask": {"host": host}} for host, one in results.items() if host != "C"]
    return combined(
        __common_answers_of_nodes={"results": of_nodes},
        __common_answers_of_control_node=results.get("C", {"skipped": True}),
    )


def test_what_did_not_answer_is_told_with_place_stage_reason_and_fix() -> None:
    good, bad = {"unreached": []}, {"unreached": [silent("connect")]}
    answers = left(kafka2=good, kafka3=bad, C=good)["answers"]
    assert answers["unreached"] == [
        "kafka1: listener BROKER at 127.0.0.9:9094 does not answer kafka3 (connect): because"
    ]
    assert answers["unasked"] == []
    from_control_node = left(kafka2=good, C={"unreached": [silent("login")]})["answers"]["unreached"]
    assert "does not answer the control node (login)" in from_control_node[0]


def test_who_could_not_ask_blames_nobody() -> None:
    answers = left(kafka2={"unreachable": True, "msg": "no route"}, kafka3={"msg": "the TLS files cannot be used"})[
        "answers"
    ]
    assert answers["unreached"] == []
    assert answers["unasked"] == [
        "kafka2 could not ask: no route",
        "kafka3 could not ask: the TLS files cannot be used",
    ]


def test_each_stage_has_its_fix_once() -> None:
    stages = ["resolve", "connect", "tls", "login", "answer", "identity"]
    assert list(FIXES) == stages
    found = {"unreached": [silent(stage) for stage in [*stages, *stages]]}
    fixes = left(kafka2=found, C=found)["answers"]["fixes"]
    assert len(fixes) == len(stages)
    assert "see the log of kafka1" in fixes[-2]
    assert "so that they lead to kafka1 alone" in fixes[-1]


def test_a_node_at_the_address_of_another_one_is_told_with_who_answers() -> None:
    found = {**silent("identity"), "why": "broker 2 answers there, not broker 1"}
    (said,) = left(kafka2={"unreached": [found]})["answers"]["unreached"]
    assert said == (
        "kafka1: listener BROKER at 127.0.0.9:9094 leads kafka2 to another node (identity): "
        "broker 2 answers there, not broker 1"
    )


def answered(listener: str, why: str = "") -> dict[str, Any]:
    """One listener that answered."""
    return {"node": "kafka1", "listener": listener, "address": "a:1", "connections": 1, "unidentified": why}


def test_a_listener_of_which_no_place_knows_who_answers_is_said_once() -> None:
    of_kafka2 = {"unreached": [], "answered": [answered("BROKER", "no right"), answered("CONTROLLER")]}
    of_kafka3 = {"unreached": [], "answered": [answered("BROKER", "no right"), answered("CONTROLLER", "no right")]}
    answers = left(kafka2=of_kafka2, kafka3=of_kafka3)["answers"]
    assert answers["unreached"] == []
    assert answers["unasked"] == ["listener BROKER answers, and it is not known whether as this node: no right"]


def test_the_cluster_of_the_inventory_or_of_the_disks_must_answer() -> None:
    def asked(**more: Any) -> str:
        return str(combined(**more)["answers"]["by_control_node"]["listeners"][0]["cluster_id"])

    disks = [{"meta_properties": None}, {"meta_properties": {"cluster.id": "of-disks"}}]
    assert asked() == ""
    assert asked(__common_node_info={"disks": disks}) == "of-disks"
    assert asked(__common_node_info={"disks": disks}, kafka_cluster_id="given") == "given"
    brokers = hosts("b1", "b2", kafka_mode="zookeeper", kafka_listeners=[CLIENT, BROKER], kafka_cluster_id="given")
    drawn = view(brokers, brokers=["b1", "b2"], host="b1")["answers"]["by_control_node"]["listeners"]
    assert [listener["cluster_id"] for listener in drawn] == [""]
