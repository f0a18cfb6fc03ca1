# SPDX-License-Identifier: GPL-3.0-or-later
"""What the page needs within a cluster and on its own host, made of the inventory."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._health.model import Limits
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import SHOWN
from ansible_collections.streamops.kafka.plugins.plugin_utils.render import page, page_code
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.view import View
from page.config import config_of
from page.records.rights import Rights
from tests.support.inventory_data import DataReader
from tests.support.wheels import compiled, pinned

LISTENERS = {
    protocol: [
        {"name": "C", "port": 9092, "purpose": "clients", "protocol": protocol},
        {"name": "K", "port": 9093, "purpose": "controllers"},
    ]
    for protocol in ("PLAINTEXT", "SASL_PLAINTEXT", "SASL_SSL", "SSL")
}
#: Hosts of the group prometheus, each on a machine of its own.
MONITORS = {
    "prom1": {"ansible_host": "10.0.0.1", "kafka_monitoring_alertmanager_port": 9093},
    "prom2": {"ansible_host": "10.0.0.2", "kafka_monitoring_alertmanager_port": 9193},
}
SECRET = {"kafka_page_password": "p", "kafka_authorizer": True, "kafka_listeners": LISTENERS["SASL_PLAINTEXT"]}


def seen(host: str, own: dict[str, Any] | None = None, pages: int = 1, monitored: bool = False, **cluster: Any) -> View:
    """The model as host a (broker of orders), b (broker of stock) or page1 sees it; `own` are variables of the page."""
    hosts: dict[str, dict[str, Any]] = {
        "a": {"kafka_node_id": 1, "kafka_cluster_name": "orders", **SECRET, **cluster},
        "b": {"kafka_node_id": 1, "kafka_cluster_name": "stock", "kafka_listeners": LISTENERS["PLAINTEXT"]},
        "page1": {
            "kafka_install_dir": "/opt/kafka",
            "kafka_page_install_dir": "/opt/p",
            "kafka_page_config_dir": "/etc/p",
            "kafka_page_reports": "/opt/p/reports",
            **{f"kafka_page_alertmanager_{name}": "" for name in ("url", "user", "password", "ca_file")},
        },
        **{name: dict(one) for name, one in MONITORS.items()},
    }
    hosts["page1"].update(own or {})
    groups = {"kafka_brokers": ["a", "b"], "kraft_controllers": ["a", "b"], "zookeeper": [], "mirror_makers": []}
    groups["prometheus"] = list(MONITORS) if monitored else []
    return View(DataReader(hosts, {**groups, "kafka_page": ["page1"][:pages]}, host))


def test_a_cluster_gets_the_user_of_the_page_with_rights_to_see_alone() -> None:
    found = seen("a")["page"]
    assert found["users"] == [{"name": "streamops-page", "password": "p", "mechanism": "SCRAM-SHA-512"}]
    assert {one["principal"] for one in found["acls"]} == {"User:streamops-page"}
    assert [(one["resource_type"], one.get("resource"), one["operations"]) for one in found["acls"]] == [
        ("cluster", None, ["describe", "describe_configs"]),
        ("topic", "*", ["describe", "describe_configs"]),
        ("group", "*", ["describe"]),
        ("topic", "_streamops_state", ["read"]),
    ]


@pytest.mark.parametrize(
    ("own", "pages", "cluster"),
    [
        ({}, 0, {}),
        ({"kafka_page_clusters": ["stock"]}, 1, {}),
        ({"kafka_page_clusters": "stock, reorders"}, 1, {}),
        ({}, 1, {"kafka_listeners": LISTENERS["PLAINTEXT"]}),
        ({}, 1, {"kafka_super_users": ["streamops-page"], "kafka_users": [{"name": "streamops-page"}]}),
    ],
)
def test_a_cluster_that_no_page_shows_or_that_knows_no_users_gets_none(
    own: dict[str, Any], pages: int, cluster: dict[str, Any]
) -> None:
    found = seen("a", own, pages, **cluster)["page"]
    assert (found["users"], found["acls"], found["acl_owners"]) == ([], [], [])


def test_a_user_that_the_inventory_lists_is_not_made_twice_and_has_its_rights() -> None:
    found = seen("a", kafka_users=[{"name": "streamops-page", "password": "p"}])["page"]
    assert (found["users"], len(found["acls"])) == ([], 4)
    plain = seen("a", kafka_sasl_mechanisms=["PLAIN"])["page"]
    assert (plain["users"], len(plain["acls"])) == ([], 4)


def test_where_clients_show_certificates_the_ca_issues_one_to_the_page() -> None:
    assert "streamops-page" in [
        one["name"] for one in seen("a", kafka_listeners=LISTENERS["SSL"])["client_certificates"]
    ]
    assert seen("a", pages=0, kafka_listeners=LISTENERS["SSL"])["client_certificates"][1:] == []


def test_the_configuration_has_every_cluster_with_its_own_login() -> None:
    found = seen("page1", {"kafka_page_users": {"prometheus": "w"}})["page"]["configuration"]
    assert found["clusters"] == {
        "orders": {
            "bootstrap_servers": ["a:9092"],
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "SCRAM-SHA-512",
            "sasl_username": "streamops-page",
            "sasl_password": "p",
        },
        "stock": {"bootstrap_servers": ["b:9092"]},
    }
    assert found["users"] == {"prometheus": page.login("page1", "prometheus", "w")}
    assert "tls_key" not in found
    assert found["trusted_proxies"] == []
    for proxies in (["192.0.2.1", "10.0.0.0/8"], "192.0.2.1, 10.0.0.0/8"):
        written = seen("page1", {"kafka_page_trusted_proxies": proxies})["page"]["configuration"]
        read = config_of(json.dumps(written), lambda _certificate, _key: [])
        assert read.trusted_proxies == ("192.0.2.1", "10.0.0.0/8")
    for named in (["stock"], "stock", '["stock"]'):
        shown = seen("page1", {"kafka_page_clusters": named})["page"]["configuration"]["clusters"]
        assert list(shown) == ["stock"]


KERBEROS = {"realm": "EXAMPLE.COM", "client_keytab_file": "/keys/admin.keytab"}


@pytest.mark.parametrize(
    ("kdcs", "own", "reads"),
    [
        ([], {}, ""),
        (["kdc1"], {}, "/etc/p/krb5.conf"),
        (["kdc1"], {"kafka_kerberos": {"krb5_file": "/etc/krb5-both.conf"}}, "/etc/krb5-both.conf"),
    ],
)
def test_it_logs_in_by_kerberos_with_a_copy_of_its_own_keytab(kdcs: list[str], own: Any, reads: str) -> None:
    by_ticket = {"kafka_sasl_mechanisms": ["GSSAPI"], "kafka_kerberos": {**KERBEROS, "kdcs": kdcs}}
    shown = seen("page1", own, kafka_page_keytab_file="/keys/page.keytab", **by_ticket)["page"]
    assert shown["configuration"]["clusters"]["orders"] == {
        "bootstrap_servers": ["a:9092"],
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "GSSAPI",
        "sasl_kerberos_keytab": "/etc/p/orders-client.keytab",
        "sasl_kerberos_principal": "streamops-page@EXAMPLE.COM",
        "sasl_kerberos_service_name": "kafka",
    }
    assert shown["keytabs"] == [{"file": "/keys/page.keytab", "path": "/etc/p/orders-client.keytab"}]
    assert shown["krb5_config"] == reads
    files = {file["path"]: file["content"] for file in shown["secret_files"]}
    assert ("kdc = kdc1" in files.get("/etc/p/krb5.conf", "")) == (reads == "/etc/p/krb5.conf")
    assert "/etc/p/orders-client.keytab" not in files
    config_of(files["/etc/p/page.json"], lambda _certificate, _key: [])
    assert seen("a", kafka_page_password="", **by_ticket)["page"]["users"] == []


def test_without_kerberos_it_gets_neither_keytab_nor_krb5_conf() -> None:
    shown = seen("page1", {"kafka_kerberos": {"krb5_file": "/etc/k.conf"}})["page"]
    assert (shown["keytabs"], shown["krb5_config"]) == ([], "")


def test_the_configuration_has_what_each_cluster_is_compared_with_and_the_page_takes_it() -> None:
    own = {
        "kafka_version": "4.2.0",
        "kafka_resources_status_max_imbalance_percent": 20,
        "kafka_resources_status_min_disk_free": 0.5,
        "kafka_resources_status_enough_disk_free_bytes": 7,
        "kafka_resources_status_max_quorum_lag": "60",
        "kafka_resources_status_min_certificate_days": 8,
    }
    found = seen("page1", **own)["page"]["configuration"]
    (node,) = found["expected"]["orders"]["nodes"]
    assert {**node, "roles": sorted(node["roles"])} == {
        "host": "a", "node_id": 1, "roles": ["broker", "controller"], "version": "4.2.0",
    }  # fmt: skip
    assert found["expected"]["orders"]["limits"]["max_quorum_lag"] == 60
    assert found["expected"]["stock"]["limits"] == dataclasses.asdict(Limits())
    read = config_of(json.dumps(found), lambda _certificate, _key: [])
    assert read.reports == "/opt/p/reports"
    assert seen("page1", {"kafka_page_reports": ""})["page"]["configuration"]["reports"] == ""
    assert (read.expected["orders"].limits, read.expected["orders"].nodes) == (Limits(20.0, 0.5, 7, 60, 8), [node])


def test_each_number_reaches_the_page() -> None:
    own = {
        "kafka_page_port": 11,
        "kafka_page_interval": 12,
        "kafka_page_poll_timeout": 13,
        "kafka_page_stale_after": 14,
        "kafka_page_details_interval": 15,
        "kafka_page_series_limit": 16,
    }
    found = config_of(json.dumps(seen("page1", own)["page"]["configuration"]), lambda _certificate, _key: [])
    assert [found.port, found.interval, found.poll_timeout] == [11, 12, 13]
    assert [found.stale_after, found.details_interval, found.series_limit] == [14, 15, 16]


def test_the_user_of_the_page_owns_its_secrets() -> None:
    (file,) = seen("page1", {"kafka_page_os_user": "reader"})["page"]["secret_files"]
    assert (file["owner"], file["mode"]) == ("reader", "0600")


def test_the_configuration_has_the_flows_that_run_and_have_an_end_on_the_page() -> None:
    flow = {"source": "orders", "target": "stock", "topics": ["o.*"]}
    flows = [
        {**flow, "topics_exclude": ["o.x"], "policy": "identity", "untouched_source": True, "config": {"a": 1}},
        {**flow, "source": "stock", "target": "orders", "enabled": False},
        {**flow, "target": "far"},
        {**flow, "source": "far", "target": "farther"},
    ]
    found = seen("page1", mirror_flows=flows)["page"]["configuration"]
    usual = {"topics": ["o.*"], "topics_exclude": [], "policy": "default", "engine": "mirror_maker_2",
             "exactly_once": "disabled", "heartbeats": True, "source": "orders", "untouched_source": False}  # fmt: skip
    named = {"topics_exclude": ["o.x"], "policy": "identity", "heartbeats": False, "untouched_source": True}
    assert found["mirrors"] == [{**usual, "target": "far"}, {**usual, "target": "stock", **named}]
    assert found["mirrors"][0].keys() == set(SHOWN)
    read = config_of(json.dumps(found), lambda _certificate, _key: [])
    assert [one.pair for one in read.mirrors] == ["orders->far", "orders->stock"]
    assert seen("page1")["page"]["configuration"]["mirrors"] == []


def test_who_may_read_records_comes_to_the_page_also_where_it_is_given_as_text() -> None:
    own = {
        "kafka_page_users": {"ann": "w"},
        "kafka_page_records_readers": '["ann"]',
        "kafka_page_records_topics": '["audit.*", "stock/x"]',
        "kafka_page_records_masked": "IBAN, password",
        "kafka_page_records_show_unmasked": "yes",
    }
    found = seen("page1", own)["page"]["configuration"]
    read = config_of(json.dumps(found), lambda _certificate, _key: []).records
    assert read == Rights(frozenset({"ann"}), ("audit.*", "stock/x"), frozenset({"iban", "password"}), True)
    assert not config_of(json.dumps(seen("page1")["page"]["configuration"]), lambda _one, _two: []).records.is_on


@pytest.mark.parametrize(
    ("own", "monitored", "expected"),
    [
        ({}, False, None),
        # It listens on loopback, so one on another machine cannot be asked.
        ({"ansible_host": "10.0.0.3"}, True, None),
        ({"ansible_host": "10.0.0.2"}, True, {"url": "http://127.0.0.1:9193"}),
        (
            {"ansible_host": "10.0.0.2", "kafka_page_alertmanager_url": "https://alerts/am"},
            True,
            {"url": "https://alerts/am"},
        ),
    ],
)
def test_the_page_asks_the_alertmanager_that_is_named_or_that_of_its_own_machine(
    own: dict[str, Any], monitored: bool, expected: dict[str, str] | None
) -> None:
    found = seen("page1", own, monitored=monitored)["page"]["configuration"]
    assert found.get("alertmanager") == expected
    assert bool(config_of(json.dumps(found), lambda _certificate, _key: []).alertmanager) == (expected is not None)


def test_the_login_and_the_ca_of_an_alertmanager_come_with_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "ca").write_text("text of ca")
    names = {"url": "https://alerts:9093", "user": "u", "password": "w", "ca_file": str(tmp_path / "ca")}
    found = seen("page1", {f"kafka_page_alertmanager_{name}": value for name, value in names.items()})["page"]
    assert found["configuration"]["alertmanager"] == {**names, "ca_file": "/etc/p/alertmanager.pem"}
    assert {one["path"]: one["content"] for one in found["secret_files"]}["/etc/p/alertmanager.pem"] == "text of ca"
    assert config_of(json.dumps(found["configuration"]), lambda _certificate, _key: []).alertmanager


def test_files_of_the_control_node_lie_beside_the_configuration(tmp_path: Path) -> None:
    names = {"kafka_tls_ca_file": "ca", "kafka_page_certificate_file": "own", "kafka_page_key_file": "key"}
    files = {variable: str(tmp_path / name) for variable, name in names.items()}
    for name in names.values():
        (tmp_path / name).write_text(f"text of {name}")
    own = {"kafka_page_tls_source": "files", "kafka_page_tls_certificate_file": str(tmp_path / "own")}
    own["kafka_page_tls_key_file"] = str(tmp_path / "key")
    found = seen("page1", own, kafka_listeners=LISTENERS["SSL"], **files)["page"]
    connection = found["configuration"]["clusters"]["orders"]
    assert connection["ssl_ca_location"] == "/etc/p/orders-ca.pem"
    assert {one["path"]: one["content"] for one in found["secret_files"]}.items() >= {
        "/etc/p/orders-ca.pem": "text of ca",
        "/etc/p/orders-client.key": "text of key",
        "/etc/p/page.pem": "text of own",
    }.items()
    assert {one["mode"] for one in found["secret_files"]} == {"0600"}
    (tmp_path / "ca").unlink()
    with pytest.raises(ValueError, match="ca on the control node cannot be read"):
        seen("page1", kafka_listeners=LISTENERS["SSL"], **files)["page"]["secret_files"]


def test_a_login_is_the_same_in_every_run_and_another_for_each_host_and_user() -> None:
    made = page.login("page1", "u", "word")
    assert made == page.login("page1", "u", "word")
    assert len({made, page.login("page2", "u", "word"), page.login("page1", "v", "word")}) == 3
    kind, cost, block, parallel, salt, digest = made.split("$")
    known = hashlib.scrypt(b"word", salt=bytes.fromhex(salt), n=int(cost), r=int(block), p=int(parallel), dklen=32)
    assert (kind, cost, digest) == ("scrypt", "16384", known.hex())


@pytest.mark.parametrize(
    ("own", "url"),
    [
        ({}, "http://127.0.0.1:9406"),
        ({"kafka_page_host": "0.0.0.0", "kafka_page_tls_source": "files"}, "https://127.0.0.1:9406"),
        ({"kafka_page_host": "fd00::2", "kafka_page_port": 1}, "http://[fd00::2]:1"),
        ({"kafka_page_host": "::"}, "http://[::1]:9406"),
    ],
)
def test_it_is_asked_where_it_listens(own: dict[str, Any], url: str) -> None:
    assert seen("page1", own)["page"]["url"] == url


def test_its_certificate_names_where_it_is_reached() -> None:
    own = {"kafka_page_tls_source": "development_ca", "kafka_page_host": "0.0.0.0", "ansible_host": "10.0.0.5"}
    assert seen("page1", own)["page"]["certificate"]["alternatives"] == ["IP:10.0.0.5", "DNS:page1"]
    assert seen("page1")["page"]["certificate"] == {}


def test_a_host_of_the_page_alone_has_the_paths_that_its_machine_shares() -> None:
    assert set(seen("page1")["paths"]) == {"supervisor", "supervisor_socket"}
    assert "log_dirs" in seen("a")["paths"]


def resolved(node: ast.ImportFrom, place: str) -> str:
    """Return the full name of what a file at that place of the package imports names from."""
    package = place.split("/")[: -node.level] if node.level else []
    return ".".join([*package, *filter(None, [node.module])])


def test_the_code_is_the_package_and_all_that_it_imports_and_no_more() -> None:
    files = page_code.code_files()
    assert {"page/__main__.py", "page/config.py", "page/page.css", "page/templates/page.html.j2"} <= set(files)
    assert {f"ansible_collections/streamops/kafka/{place}" for place in page_code.KIT} <= set(files)
    ours = {place.removesuffix(".py").replace("/", ".") for place in files
            if place.startswith("ansible_collections") and place.endswith(".py")}  # fmt: skip
    named = {
        module
        for place, text in files.items()
        if place.endswith(".py")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and (module := resolved(node, place)).startswith("ansible_collections")
    }
    assert {name for name in named if not name.rpartition(".")[2].startswith("_")} <= ours
    outside = {
        alias.name if isinstance(node, ast.Import) else resolved(node, place)
        for place, text in files.items()
        if place.endswith(".py")
        for node in ast.parse(text).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert not [name for name in outside if name.split(".")[0] == "ansible"], "its host has no Ansible"
    assert not [name for name in ours if name not in named and name.rpartition(".")[0] not in named]
    assert not [name for name in ours if ".module_utils." not in name and ".plugin_utils.reports." not in name]


def test_the_wheels_are_those_that_the_repository_runs_with() -> None:
    assert len(pinned(page.LOCK)) == 11
    assert compiled(page.LOCK) == ["markupsafe", "zstandard"]


def test_the_page_gets_tokens_with_the_ca_of_the_issuer_beside_it(tmp_path: Path) -> None:
    for name in ("ca", "id"):
        (tmp_path / name).write_text(f"text of {name}")
    oauth = {"endpoint_url": "https://id.example.com/token", "ca_file": str(tmp_path / "id")}
    given = {"kafka_sasl_mechanisms": ["OAUTHBEARER"], "kafka_oauth": oauth, "kafka_tls_ca_file": str(tmp_path / "ca")}
    page = seen("page1", kafka_listeners=LISTENERS["SASL_SSL"], **given)["page"]
    connection = page["configuration"]["clusters"]["orders"]
    assert connection["sasl_mechanism"] == "OAUTHBEARER"
    assert connection["sasl_oauthbearer_endpoint_url"] == oauth["endpoint_url"]
    assert connection["sasl_oauthbearer_ca_location"] == "/etc/p/orders-ca.tokens.pem"
    assert {one["path"]: one["content"] for one in page["secret_files"]}["/etc/p/orders-ca.tokens.pem"] == "text of id"
    assert config_of(json.dumps(page["configuration"]), lambda _certificate, _key: []).clusters["orders"].login
