# SPDX-License-Identifier: GPL-3.0-or-later
"""What a canary needs within the clusters and on its host, and what mirrors need so that its events pass."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.render import canary
from canary.config import config_of
from tests.support.inventory_data import view
from tests.support.wheels import compiled, pinned

FLOWS = [{"source": "dc_a", "target": "dc_b", "topics": ["orders"]}]
LISTENERS = [
    {"name": "CLIENT", "port": 9092, "protocol": "SASL_SSL", "purpose": "clients"},
    {"name": "BROKER", "port": 9094, "protocol": "SSL", "purpose": "brokers"},
]
LOGIN = {"mirror_canary_user": "canary", "mirror_canary_password": "secret", "kafka_authorizer": True}
TOPIC, COPY = "streamops-canary.dc_a.dc_b", "dc_a.streamops-canary.dc_a.dc_b"


def endpoint(cluster: str, ca: str, protocol: str) -> dict[str, Any]:
    """What the brokers of a cluster say of it."""
    return {
        "cluster": cluster,
        "bootstrap_servers": [f"{cluster}:9092"],
        "protocol": protocol,
        "mirror_bootstrap_servers": [f"{cluster}:9095"],
        "mirror_protocol": protocol,
        "mechanism": "SCRAM-SHA-512",
        "user": "mirror",
        "password": "of mirrors",
        "canary_user": "canary",
        "canary_password": "secret",
        "ca_file": ca,
        "brokers": 1,
    }


def seen(
    host: str = "m1", ca: str = "/none", protocol: str = "SASL_SSL", told: Any = None, hosts: Any = None, **common: Any
) -> Any:
    """What a host sees of a flow from a1 to b1, which m1 and m2 carry."""
    names = {"a1": "dc_a", "b1": "dc_b", "m1": "dc_b", "m2": "dc_b"}
    changes: dict[str, dict[str, Any]] = hosts or {}
    hosts = {
        name: {"kafka_cluster_name": cluster, "kafka_node_id": 1, "__kafka_endpoint": endpoint(cluster, ca, protocol)}
        for name, cluster in names.items()
    }
    for name in ("m1", "m2"):
        del hosts[name]["__kafka_endpoint"]
        hosts[name] |= {"__mirror_maker_canary_told": told} if told else {}
    for name, changed in changes.items():
        hosts[name] |= changed
    given = {"kafka_listeners": LISTENERS, "mirror_maker_canary": True, **LOGIN, "mirror_flows": FLOWS, **common}
    return view(hosts, brokers=["a1", "b1"], mirrors=["m2", "m1"], host=host, **given)


def test_the_first_mirror_of_a_target_runs_it() -> None:
    assert seen("m1")["canary"]["runs"] is True
    assert seen("m2")["canary"]["runs"] is False


@pytest.mark.parametrize(
    "common",
    [
        {"mirror_maker_canary": False},
        {"mirror_flows": []},
        {"mirror_flows": [{**FLOWS[0], "enabled": False}]},
        {"mirror_flows": [{**FLOWS[0], "engine": "legacy"}]},
    ],
)
def test_it_runs_nowhere_where_it_is_off_or_has_nothing_to_follow(common: dict[str, Any]) -> None:
    assert seen("m1", **common)["canary"]["runs"] is False
    assert seen("a1", **common)["canary"]["acls"] == []
    assert seen("a1", **common)["canary"]["users"] == []


def test_its_user_may_do_at_each_end_what_events_take_and_nothing_else() -> None:
    source, target = seen("a1")["canary"], seen("b1")["canary"]
    assert source["users"] == target["users"] == [
        {"name": "canary", "password": "secret", "mechanism": "SCRAM-SHA-512"}
    ]  # fmt: skip
    assert source["acls"][0] == {
        "principal": "User:canary",
        "operations": ["read", "create", "write", "alter", "describe_configs"],
        "resource_type": "topic",
        "resource": TOPIC,
        "pattern_type": "literal",
    }
    events = seen("a1", mirror_maker_canary_gaps=False)["canary"], seen("b1", mirror_maker_canary_gaps=False)["canary"]
    assert [len(one["acls"]) for one in events] == [1, 1]
    (right,) = events[1]["acls"]
    assert (right["resource"], right["operations"]) == (COPY, ["read"])


def test_its_user_may_read_what_tells_of_gaps_unless_it_does_not_watch_them() -> None:
    source, target = (
        {one["resource"]: one["operations"] for one in seen(host)["canary"]["acls"]} for host in ("a1", "b1")
    )
    assert source["orders"] == ["read", "describe_configs"]
    assert source["mm2-offset-syncs.dc_b.internal"] == ["read"]
    assert target["mm2-offsets.dc_a.internal"] == ["read"]
    assert target["_streamops_state"] == ["create", "read", "write", "describe_configs"]
    assert len(source) == 3


def test_a_flow_that_takes_no_events_is_not_watched_for_gaps_either() -> None:
    """No canary logs in at its source."""
    other = {"source": "dc_c", "target": "dc_b", "topics": ["stock"], "topics_exclude": ["streamops-.*"]}
    rights = {one["resource"] for one in seen("b1", mirror_flows=[*FLOWS, other])["canary"]["acls"]}
    assert "mm2-offsets.dc_a.internal" in rights
    assert "mm2-offsets.dc_c.internal" not in rights


def test_a_flow_with_native_properties_is_followed_too() -> None:
    flows = [{**FLOWS[0], "config": {"offset.lag.max": 0}}]
    assert seen("a1", mirror_flows=flows)["canary"]["users"] != []
    assert seen("m1", mirror_flows=flows)["canary"]["runs"] is True


def test_acls_of_a_canary_that_is_gone_are_removed() -> None:
    assert seen("a1", mirror_maker_canary=False)["canary"]["acl_owners"] == ["User:canary"]


def test_a_user_that_the_inventory_lists_is_not_made_twice() -> None:
    listed = [{"name": "canary", "password": "other"}]
    assert seen("a1", kafka_users=listed)["canary"]["users"] == []


def test_a_user_that_mirrors_have_too_is_made_once() -> None:
    same = {"mirror_user": "canary", "mirror_password": "secret"}
    made = seen("a1", **same)
    assert [one["name"] for one in made["mirroring"]["users"] + made["canary"]["users"]] == ["canary"]
    page = seen("a1", kafka_page_user="canary", kafka_page_password="secret")
    assert [one["name"] for one in page["page"]["users"] + page["canary"]["users"]] == ["canary"]


KERBEROS = {"realm": "EXAMPLE.COM", "service_name": "brokers", "client_keytab_file": "/keys/admin.keytab"}


@pytest.mark.parametrize(
    ("kdcs", "own", "reads"),
    [
        ([], {}, ""),
        (["kdc1"], {}, "{config}/krb5.conf"),
        (["kdc1"], {"krb5_file": "/etc/krb5-both.conf"}, "/etc/krb5-both.conf"),
    ],
)
def test_it_logs_in_by_kerberos_with_a_copy_of_its_own_keytab(kdcs: list[str], own: Any, reads: str) -> None:
    by_ticket = {"mechanism": "GSSAPI", "kerberos": {**KERBEROS, "kdcs": kdcs}, "canary_keytab_file": "/keys/c.keytab"}
    source = {**endpoint("dc_a", "", "SASL_PLAINTEXT"), **by_ticket}
    hosts = {"a1": {"__kafka_endpoint": source}, "m1": {"kafka_kerberos": own}}
    canary = seen("m1", protocol="PLAINTEXT", hosts=hosts)["canary"]
    config = canary["paths"]["config"]
    files = {Path(file["path"]).name: file for file in canary["secret_files"]}
    connection = config_of(files["canary.json"]["content"]).clusters["dc_a"]
    assert connection.login is not None
    assert (connection.login.principal, connection.login.service_name) == ("canary@EXAMPLE.COM", "brokers")
    assert connection.login.keytab == f"{config}/dc_a-client.keytab"
    assert canary["keytabs"] == [{"file": "/keys/c.keytab", "path": connection.login.keytab}]
    assert canary["krb5_config"] == reads.format(config=config)
    assert ("krb5.conf" in files) == (reads == "{config}/krb5.conf")


def test_without_kerberos_it_gets_neither_keytab_nor_krb5_conf() -> None:
    canary = seen("m1", protocol="PLAINTEXT", kafka_kerberos={"krb5_file": "/etc/k.conf"})["canary"]
    assert (canary["keytabs"], canary["krb5_config"]) == ([], "")


def test_a_check_before_the_first_installation_has_no_development_ca_yet() -> None:
    found = seen("m1", ansible_check_mode=True)["canary"]
    assert [Path(one["path"]).name for one in found["secret_files"]] == ["canary.json"]
    with pytest.raises(ValueError, match=r"/none on the control node cannot be read .* run site.yml"):
        seen("m1")["canary"]["secret_files"]


def test_mirrors_copy_the_events_and_may_do_so() -> None:
    with_it, without = seen("m1")["mirroring"], seen("m1", mirror_maker_canary=False)["mirroring"]
    own = ["streamops-canary[.]dc_a[.]dc_b", "streamops-drill[.]dc_a[.]dc_b-[0-9a-f]{8}-[0-9]+"]
    assert with_it["properties"]["dc_a->dc_b.topics"] == ["orders", *own]
    assert without["properties"]["dc_a->dc_b.topics"] == ["orders"]
    topics = {
        host: {one["resource"] for one in seen(host, mirror_user="mirror")["mirroring"]["acls"] if "resource" in one}
        for host in ("a1", "b1")
    }
    assert {TOPIC, "streamops-drill.dc_a.dc_b-"} <= topics["a1"]
    assert {COPY, "dc_a.streamops-drill.dc_a.dc_b-"} <= topics["b1"]


def test_events_are_nothing_to_compare_or_to_wait_for() -> None:
    assert seen("m1")["mirroring"]["flows"][0]["topics"] == ["orders"]


def test_the_service_takes_the_configuration(tmp_path: Path) -> None:
    ca = tmp_path / "ca.pem"
    ca.write_text("the CA\n")
    found = seen("m1", ca=str(ca))["canary"]
    files = {Path(one["path"]).name: one for one in found["secret_files"]}
    assert sorted(files) == ["canary.json", "dc_a-ca.pem", "dc_b-ca.pem"]
    assert {one["mode"] for one in files.values()} == {"0600"}
    given = json.loads(files["canary.json"]["content"])
    assert given["clusters"]["dc_a"] == {
        "bootstrap_servers": ["dc_a:9095"],
        "security_protocol": "SASL_SSL",
        "ssl_ca_location": files["dc_a-ca.pem"]["path"],
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_username": "canary",
        "sasl_password": "secret",
    }
    config = config_of(files["canary.json"]["content"])
    assert [(one.path, one.topic, one.copy) for one in config.own] == [("dc_a->dc_b", TOPIC, COPY)]
    assert (config.interval, config.limits.late, config.limits.missing) == (60, 120, 21600)
    assert [(one.pair, one.topics) for one in config.flows] == [("dc_a->dc_b", ("orders",))]
    assert config.offset_flush == 10
    without = seen("m1", ca=str(ca), mirror_maker_canary_gaps=False)["canary"]["secret_files"]
    assert config_of(next(one["content"] for one in without if "canary.json" in one["path"])).flows == ()


def test_each_setting_of_the_canary_reaches_it() -> None:
    own = {
        "mirror_maker_canary_port": 11,
        "mirror_maker_canary_interval": 12,
        "mirror_maker_canary_late_seconds": 13,
        "mirror_maker_canary_missing_seconds": 14,
        "mirror_maker_offset_flush_seconds": 15,
        "mirror_maker_canary_os_user": "bird",
        "mirror_maker_canary_install_dir": "/opt/c",
        "mirror_maker_canary_config_dir": "/etc/c",
    }
    found = seen("m1", protocol="PLAINTEXT", **own)["canary"]
    (file,) = found["secret_files"]
    config = config_of(file["content"])
    assert [config.port, config.interval, config.limits.late, config.limits.missing] == [11, 12, 13, 14]
    assert config.offset_flush == 15
    assert (file["path"], file["owner"]) == ("/etc/c/m1/canary.json", "bird")
    assert found["code_dir"].startswith("/opt/c/m1/")


def test_without_a_login_it_needs_no_file_beside_its_configuration() -> None:
    found = seen("m1", protocol="PLAINTEXT")["canary"]
    (file,) = found["secret_files"]
    assert "sasl" not in file["content"]
    assert config_of(file["content"]).cluster == "dc_b"


def test_its_code_is_whole_and_brings_nothing_of_ansible() -> None:
    found = seen("m1")["canary"]
    places = {one["path"].removeprefix(f"{found['code_dir']}/") for one in found["code"]}
    assert {"canary/__main__.py", "canary/ledger.py", "page/core/exposition.py"} <= places
    assert not [one for one in places if "/plugin_utils/" in one or "/modules/" in one]


def test_its_code_starts_where_no_ansible_is(tmp_path: Path) -> None:
    found = seen("m1")["canary"]
    for one in found["code"]:
        file = tmp_path / one["path"].removeprefix(f"{found['code_dir']}/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(one["content"])
    alone = "import sys; sys.modules['ansible'] = None; import canary.serve"
    done = subprocess.run(
        [sys.executable, "-c", alone], cwd=tmp_path, env={}, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_prometheus_reads_it_and_its_series_name_their_cluster() -> None:
    targets = seen("m1", ansible_host="127.0.0.1", kafka_metrics_enabled=False)["monitoring"]["targets"]
    (one,) = (one for one in targets if one["job"] == "canary")
    assert (one["node"], one["address"]) == ("m1", "127.0.0.1:9407")


@pytest.mark.parametrize(
    ("told", "line", "fails"),
    [
        ({"status": 200, "json": {"cluster": "dc_b", "status": "OK", "line": "OK    canary"}}, "OK    canary", False),
        ({"status": 200, "json": {"cluster": "dc_b", "status": "DEGRADED", "line": "DEGRADED x"}}, "DEGRADED x", False),
        (
            {"status": 200, "json": {"cluster": "dc_c", "status": "OK", "line": "OK           canary at dc_c"}},
            "DOWN         canary at dc_b: the canary of another cluster answers at http://127.0.0.1:9407 (dc_c)",
            True,
        ),
        ({"status": -1, "msg": "Connection refused."}, "does not answer (Connection refused)", True),
        ({"status": 200, "json": []}, "does not answer", True),
    ],
)
def test_a_status_says_what_it_says_or_that_it_is_silent(told: dict[str, Any], line: str, fails: bool) -> None:
    found = seen("m1", told=told)["canary"]
    assert line in found["verdict"]["line"]
    assert found["fails"] is fails


def test_a_status_that_is_to_be_strict_fails_for_late_events() -> None:
    told = {"status": 200, "json": {"cluster": "dc_b", "status": "DEGRADED", "line": "DEGRADED x"}}
    assert seen("m1", told=told, status_strict=True)["canary"]["fails"] is True


def test_its_libraries_are_those_that_the_repository_runs_with() -> None:
    """Its mirrors may pack what they write down with whatever the control node can read."""
    codecs = {"cramjam", "lz4", "python-snappy", "zstandard"}
    assert {*pinned(canary.LOCK)} == {"kafka-python", *codecs}
    assert compiled(canary.LOCK) == ["cramjam", "lz4", "zstandard"]


def test_a_canary_gets_tokens_as_mirrors_do_with_the_ca_of_the_issuer_beside_it(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("the CA")
    (tmp_path / "id.pem").write_text("of the issuer")
    told = endpoint("dc_a", str(tmp_path / "ca.pem"), "SASL_SSL")
    tokens = {
        "sasl_oauthbearer_endpoint_url": "https://id/token",
        "sasl_oauthbearer_ca_location": str(tmp_path / "id.pem"),
    }
    changed = {"__kafka_endpoint": {**told, "mechanism": "OAUTHBEARER", "tokens": tokens}}
    found = seen("m1", ca=str(tmp_path / "ca.pem"), hosts={"a1": changed})
    files = {Path(one["path"]).name: one["content"] for one in found["canary"]["secret_files"]}
    assert files["dc_a-ca.tokens.pem"] == "of the issuer"
    config = config_of(files["canary.json"])
    login = config.clusters["dc_a"].login
    assert login is not None
    assert (login.username, login.endpoint_url) == ("canary", "https://id/token")
    assert login.ca_file.endswith("/dc_a-ca.tokens.pem")
    assert "dc_b-ca.tokens.pem" not in files
    asked = "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls="
    assert f"{asked}https://id/token" in found["jvm_arguments"]
    assert asked in seen("m1", ca=str(tmp_path / "ca.pem"))["jvm_arguments"]
