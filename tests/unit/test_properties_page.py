"""docs/properties.md names every property that the roles set, and none that they do not."""

from __future__ import annotations

import re

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.render.kafka import ZOOKEEPER_DEFAULTS
from tests.support.cluster import ROOT
from tests.support.inventory_data import view

PAGE = (ROOT / "docs" / "properties.md").read_text()
NAMED = re.findall(r"`([\w.<>*-]+)`", PAGE)
LISTENERS = [
    {"name": "CLIENT", "port": "9092", "purpose": "clients", "protocol": "SASL_SSL"},
    {"name": "BROKER", "port": "9094", "purpose": "brokers", "protocol": "SSL"},
    {"name": "CONTROLLER", "port": "9093", "purpose": "controllers", "protocol": "SSL"},
]


def rendered(host: str) -> dict[str, object]:
    """The properties of one of a controller and three brokers with everything on that adds a property."""
    hosts = {name: {"kafka_node_id": str(n), "ansible_host": f"10.0.0.{n}"} for n, name in enumerate("cabd", 1)}
    known = {
        "kafka_listeners": LISTENERS,
        "kafka_log_dirs": ["/d"],
        "kafka_metadata_log_dir": "/m",
        "kafka_rack": "r",
        "kafka_authorizer": True,
        "kafka_admin_user": "admin",
        "kafka_admin_password": "x",
        "kafka_sasl_mechanisms": ["SCRAM-SHA-512", "PLAIN"],
    }
    return dict(view(hosts, controllers=["c"], brokers=["a", "b", "d"], host=host, **known)["properties"])


def shape(key: str) -> str:
    """A property as the page names it: without the name of a listener or a mechanism."""
    key = re.sub(r"^listener\.name\.[\w-]+\.", "listener.name.<listener>.", key)
    key = re.sub(r"(<listener>\.)[\w-]+(\.sasl\.jaas)", r"\1<mechanism>\2", key)
    return "ssl.*" if key.startswith("ssl.") else key


@pytest.mark.parametrize("host", ["a", "c"])
def test_every_property_is_on_the_page(host: str) -> None:
    assert {shape(key) for key in rendered(host)} - set(NAMED) == set()


def test_every_property_of_the_table_of_brokers_is_set_with_the_value_there() -> None:
    found = {shape(key): value for key, value in rendered("a").items()}
    table = PAGE.partition("## Brokers")[2].partition("A controller that")[0]
    for names, here in re.findall(r"^\| (`.*?) \| (.*?) \|", table, re.MULTILINE):
        for name in re.findall(r"`([^`]+)`", names):
            if re.fullmatch(r"\d+|true|false", here.split(",")[0]):
                assert str(found[name]).lower() == here.split(",")[0], name
            assert name in found


def test_the_defaults_of_zookeeper_are_on_the_page() -> None:
    assert set(ZOOKEEPER_DEFAULTS) - set(NAMED) == set()
