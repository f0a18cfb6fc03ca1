"""What `kafka_kerberos` says: principals of nodes, krb5.conf, and the users that rules make of principals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.kerberos import (
    Kerberos,
    read_keytab,
    rule_fault,
    short_name,
)
from tests.support.keytabs import keytab, record

GOOD = {"realm": "EXAMPLE.COM", "keytab_path": "/etc/kafka.keytab"}


def test_what_is_left_out_is_the_default() -> None:
    said = Kerberos.of({"realm": " EXAMPLE.COM ", "kdcs": None, "service_name": "", "principal_rules": []})
    assert said == Kerberos("EXAMPLE.COM")
    assert said.principal_at("B1.example.com") == "kafka/b1.example.com@EXAMPLE.COM"
    assert Kerberos.of("no dict") == Kerberos()
    assert Kerberos("R", principal="svc@R").principal_at("b1") == "svc@R"


def test_krb5_conf_is_written_where_kdcs_are_named() -> None:
    assert Kerberos.of(GOOD).krb5() == ""
    text = Kerberos.of({**GOOD, "kdcs": ["kdc1.example.com", "kdc2.example.com:8888"]}).krb5()
    assert "default_realm = EXAMPLE.COM" in text
    assert [line.strip() for line in text.splitlines() if line.strip().startswith("kdc =")] == [
        "kdc = kdc1.example.com",
        "kdc = kdc2.example.com:8888",
    ]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"realm": ""}, "no realm"),
        ({"keytab_path": ""}, "needs keytab_file or keytab_path"),
        ({"keytab_file": "/k"}, "and not both"),
        ({"kdcs": ["a"], "krb5_file": "/etc/krb5.conf"}, "of which Java reads one"),
        ({"keytab_path": '/k" x="'}, "a quote"),
        ({"kdcs": ["a\n[realms]"]}, "which holds a blank"),
        ({"principal_rules": ["RULE:[1:$1"]}, "no rule as Kafka reads it"),
        ({"principal_rules": ["DEFAULT", "RULE:[1:$1](a,b)"]}, "a comma"),
        ({"principal_rules": ["RULE:[1:$1](a{2)"]}, ""),
        ({"principal_rules": ["RULE:[1:$1]([)"]}, "regular expression"),
        ({}, ""),
    ],
)
def test_why_no_file_may_be_written(wrong: dict[str, Any], why: str) -> None:
    assert why in Kerberos.of({**GOOD, **wrong}).fault()
    assert bool(why) == bool(Kerberos.of({**GOOD, **wrong}).fault())


def test_the_keys_of_a_keytab_are_read_with_the_name_of_the_file_in_errors(tmp_path: Path) -> None:
    file = tmp_path / "k"
    said = Kerberos("R", keytab_file=str(file))
    with pytest.raises(ValueError, match=r"/k cannot be read: No such file"):
        read_keytab(said.keytab_file)
    file.write_bytes(b"x")
    with pytest.raises(ValueError, match=r"/k: it is no keytab"):
        read_keytab(said.keytab_file)
    file.write_bytes(b"$ANSIBLE_VAULT;1.1;AES256\n")
    with pytest.raises(ValueError, match="encrypted by Ansible Vault"):
        read_keytab(said.keytab_file)
    file.write_bytes(keytab(record("a@R")))
    assert [key.principal for key in read_keytab(said.keytab_file)] == ["a@R"]


@pytest.mark.parametrize(
    ("rules", "principal", "user"),
    [
        (["DEFAULT"], "alice@R", "alice"),
        (["DEFAULT"], "alice/admin@R", "alice"),
        (["DEFAULT"], "alice@OTHER", ""),
        (["RULE:[1:$1]"], "alice@OTHER", "alice"),
        (["RULE:[1:$1@$0](.*@R)s/@.*//", "DEFAULT"], "alice@R", "alice"),
        (["RULE:[1:$1@$0](.*@R)s/@.*//"], "alice@OTHER", ""),
        (["RULE:[1:$1@$0](.*@R)"], "alice@R", ""),
        (["RULE:[1:$1@$0]s/@R$//"], "alice@R", "alice"),
        (["RULE:[1:$1@$0]s/@R$//"], "alice@OTHER", ""),
        (["RULE:[1:$1@$0]s/@R$//"], "alice/admin@R", ""),
        (["RULE:[2:$1-$2]"], "kafka/b1@R", "kafka-b1"),
        (["RULE:[2:$1-$2]"], "kafka@R", ""),
        (["RULE:[2:$9]"], "kafka/b1@R", ""),
        (["RULE:[1:$1]s/(.)l/$1L/"], "alice@R", "aLice"),
        (["RULE:[1:$1]s/a/x/g"], "banana@R", "bxnxnx"),
        (["RULE:[1:$1]s/a/x/"], "banana@R", "bxnana"),
        (["RULE:[1:$1]/L"], "ALICE@R", "alice"),
    ],
)
def test_rules_make_users_as_kafka_does(rules: list[str], principal: str, user: str) -> None:
    assert [rule for rule in rules if rule_fault(rule)] == []
    assert short_name(rules, "R", principal) == user
