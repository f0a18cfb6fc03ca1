"""Preflight rows on logins by Kerberos: what is missing, and whose keys each broker has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.kerberos import Kerberos
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import UNDEFINED
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.host import host_of
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rule import RULES
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.security import kerberos_properties
from tests.support.keytabs import RC4, keytab, record
from tests.support.preflight_inventories import combined

from .test_oauth import GOOD as WITH_TOKENS

KERBEROS = {"realm": "EXAMPLE.COM", "kdcs": ["kdc1.example.com"], "keytab_path": "/etc/kafka.keytab"}
GOOD: dict[str, Any] = {
    **{key: value for key, value in WITH_TOKENS.items() if key != "kafka_oauth"},
    "kafka_sasl_mechanisms": ["SCRAM-SHA-512", "GSSAPI"],
    "kafka_kerberos": KERBEROS,
}
MERGE, NATIVE = "principals_merge", "native_kerberos_property"
LISTENER = {"name": "CLIENT", "advertised_host": "kafka1"}


def kerberos(**fields: Any) -> dict[str, Any]:
    """The good description with some fields changed; None leaves one out."""
    return {"kafka_kerberos": {key: value for key, value in {**KERBEROS, **fields}.items() if value is not None}}


BAD: list[tuple[dict[str, Any], str, list[str]]] = [
    ({"kafka_kerberos": {}}, "bad_kerberos", ["no realm"]),
    ({"kafka_kerberos": None}, "bad_kerberos", ["no realm"]),
    (kerberos(realm=""), "bad_kerberos", ["no realm"]),
    (kerberos(keytab_path=None), "bad_kerberos", ["keytab_file or keytab_path"]),
    (kerberos(krb5_file="/etc/krb5.conf"), "bad_kerberos", ["kdcs and krb5_file"]),
    (kerberos(kdcs={"a": 1}), "bad_kerberos", ["kdcs"]),
    (kerberos(keytabs="/k"), "bad_kerberos", ["field that does not exist", "keytabs"]),
    (kerberos(principal_rules=["RULE:[1:$1"]), "bad_kerberos", ["no rule as Kafka reads it"]),
    ({"kafka_sasl_mechanisms": ["SCRAM-SHA-512"]}, "kerberos_not_offered", ["SCRAM-SHA-512", "remove kafka_kerberos"]),
    ({"kafka_sasl_mechanisms": ["GSSAPI"]}, "kerberos_first", ["no client_keytab_file", "or put SCRAM-SHA-512 before"]),
    (
        {"kafka_sasl_mechanisms": ["GSSAPI"], **kerberos(client_keytab_file="/nowhere/k")},
        "kerberos_first",
        ["/nowhere/k cannot be read"],
    ),
    (kerberos(realm="example.com"), "realm_in_small_letters", ["example.com", "klist"]),
    (kerberos(keytab_path=None, keytab_file="/nowhere/k"), "bad_keytab", ["/nowhere/k cannot be read: No such file"]),
    (kerberos(principal_rules=["RULE:[1:$1]"]), MERGE, ["admin@EXAMPLE.COM and admin of any other realm"]),
    (kerberos(principal_rules=["RULE:[1:$1@$0](.*@EXAMPLE.COM)s/@.*//", "RULE:[2:$1]"]), MERGE, ["admin/another@"]),
]


@pytest.mark.parametrize(("wrong", "row", "words"), BAD)
def test_each_mistake_has_its_own_message(wrong: dict[str, Any], row: str, words: list[str]) -> None:
    found = check_inventory(combined(**{**GOOD, **wrong}))
    assert [breach.name for breach in found] == [row]
    assert all(word in found[0].sentence() for word in words), found[0].sentence()


@pytest.mark.parametrize(
    "right",
    [
        {},
        kerberos(kdcs=None),
        kerberos(kdcs="kdc1, kdc2:88", principal_rules="DEFAULT"),
        kerberos(kdcs=None, krb5_file="/etc/krb5.conf"),
        kerberos(keytab_path=UNDEFINED),
        kerberos(kdcs=[UNDEFINED]),
        kerberos(principal_rules=["RULE:[1:$1@$0](.*@EXAMPLE.COM)s/@.*//", "DEFAULT"]),
        kerberos(principal_rules=["RULE:[2:$1-$2]", "DEFAULT"]),
        {"kafka_kerberos": UNDEFINED},
    ],
)
def test_what_is_right_passes(right: dict[str, Any]) -> None:
    assert check_inventory(combined(**{**GOOD, **right})) == []


@pytest.mark.parametrize("key", kerberos_properties(LISTENER, Kerberos.of(KERBEROS), "/etc/kafka.keytab"))
def test_every_property_by_which_a_listener_lets_in_principals_stays_ours(key: str) -> None:
    found = list(RULES[NATIVE].violations(combined(**GOOD, kafka_config={key: "1"})))
    assert key in found[0].sentence()
    assert not list(RULES[NATIVE].violations(combined(**GOOD, kafka_config={"sasl.kerberos.kinit.cmd": "/bin/kinit"})))


def hosts_of() -> list[str]:
    """Return as what the brokers advertise their listener for clients."""
    nodes = combined(**GOOD).nodes
    return [listener.advertised_host for node in nodes for listener in node.listeners() if listener.name == "CLIENT"]


def test_each_broker_needs_the_keys_of_its_own_name(tmp_path: Path) -> None:
    file = tmp_path / "kafka.keytab"
    given = {**GOOD, **kerberos(keytab_path=None, keytab_file=str(file))}

    def found(*records: bytes) -> list[str]:
        file.write_bytes(keytab(*records))
        file.chmod(0o600)
        breaches = check_inventory(combined(**given))
        assert {breach.name for breach in breaches} <= {"bad_keytab"}
        return [breach.sentence() for breach in breaches]

    names = [f"kafka/{host}@EXAMPLE.COM" for host in hosts_of()]
    assert found(*map(record, names)) == []
    others = found(record(names[0]))
    assert len(others) == len(names) - 1
    assert names[1] in others[0]
    assert f"but of {names[0]}" in others[0]
    assert "ktadd" in others[0]
    weak = found(*(record(name, 2, RC4) for name in names))
    assert len(weak) == len(names)
    assert "weak or unknown to Java: rc4-hmac" in weak[0]
    file.write_bytes(keytab(*map(record, names))[:-4])
    assert "cut off" in check_inventory(combined(**given))[0].sentence()
    file.write_bytes(keytab(*map(record, names)))
    file.chmod(0o644)
    (wide,) = check_inventory(combined(**given))
    assert wide.name == "open_keytab"
    assert "mode 0644" in wide.sentence()


def test_the_administrator_is_the_user_of_its_principal(tmp_path: Path) -> None:
    file = tmp_path / "admin.keytab"
    file.touch(mode=0o600)
    given: dict[str, Any] = {**GOOD, "kafka_sasl_mechanisms": ["GSSAPI"], "kafka_admin_password": ""}

    def found(principal: str, **fields: Any) -> list[tuple[str, str]]:
        file.write_bytes(keytab(record(principal)))
        breaches = check_inventory(combined(**{**given, **kerberos(client_keytab_file=str(file), **fields)}))
        return [(breach.name, breach.sentence()) for breach in breaches]

    assert found("admin@EXAMPLE.COM") == [], "nobody has a password"
    ((name, sentence),) = found("other@EXAMPLE.COM")
    assert name == "kerberos_first"
    assert "no key of admin@EXAMPLE.COM, but of other@EXAMPLE.COM" in sentence
    ((name, sentence),) = found("admin@EXAMPLE.COM", principal_rules=["RULE:[1:x-$1]"])
    assert (name, "make x-admin of admin@EXAMPLE.COM, not admin" in sentence) == ("kerberos_first", True)
    file.chmod(0o644)
    assert [name for name, _sentence in found("admin@EXAMPLE.COM")] == ["open_keytab"]


LOOK = {"path": "/etc/kafka.keytab", "problem": "", "is_open": False, "version": 3, "copied": None}


@pytest.mark.parametrize(
    ("look", "rule", "words"),
    [
        (LOOK, "", ""),
        ({**LOOK, "problem": "No such file or directory"}, "bad_keytab_on_node", "No such file or directory"),
        ({**LOOK, "is_open": True}, "bad_keytab_on_node", "everybody on the node may read /etc/kafka.keytab"),
        ({**LOOK, "copied": 2}, "older_keytab", "kvno 3 on the node, 2 on the control node"),
        ({**LOOK, "copied": 3}, "", ""),
        ({**LOOK, "copied": 3, "version": 0, "problem": "No such file or directory"}, "", ""),
        (None, "", ""),
    ],
)
def test_the_keytab_on_the_node(look: dict[str, Any] | None, rule: str, words: str) -> None:
    hosts = [host_of(node, {"disks": [], "keytab": look}) for node in combined(**GOOD).nodes[:1]]
    found = [breach for name in ("bad_keytab_on_node", "older_keytab") for breach in RULES[name].violations(hosts)]
    assert [breach.name for breach in found] == ([rule] if rule else [])
    assert all(words in breach.sentence() for breach in found)


def test_the_spark_job_needs_the_keys_of_its_user(tmp_path: Path) -> None:
    admin, spark = tmp_path / "admin.keytab", tmp_path / "spark.keytab"
    for file in (admin, spark):
        file.write_bytes(keytab(record(f"{file.stem}@EXAMPLE.COM")))
        file.chmod(0o600)
    given = {**GOOD, "kafka_sasl_mechanisms": ["GSSAPI"], **kerberos(client_keytab_file=str(admin))}

    def breaches(**job: str) -> list[str]:
        asked = {f"spark_validation_{name}": value for name, value in job.items()}
        return [f"{breach.name} {breach.sentence()}" for breach in check_inventory(combined(**given, **asked))]

    assert breaches(user="spark", keytab_file=str(spark)) == []
    (other,) = breaches(user="smoke", keytab_file=str(spark))
    assert other.startswith("bad_service_keytab ")
    assert "spark_validation_keytab_file: the Spark job cannot log in by Kerberos" in other
    assert "no key of smoke@EXAMPLE.COM" in other
    (none,) = breaches(user="spark", password="long-and-random")
    assert "no key of spark@EXAMPLE.COM, but of admin@EXAMPLE.COM" in none
    (lone,) = breaches(user="admin")
    assert lone.startswith("unfit_validation")
    assert "spark_validation_keytab_file instead of the password" in lone
