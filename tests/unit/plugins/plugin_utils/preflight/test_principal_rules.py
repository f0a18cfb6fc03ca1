"""The principal of a subject, as Kafka 4.3.1's own SslPrincipalMapper gave it for each of these rules."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.principal_rules import (
    RuleError,
    UnknownRuleError,
    principal,
)

DEFAULT_OF_THE_ROLES = "RULE:^CN=([^,]+).*$/$1/,DEFAULT"


@pytest.mark.parametrize(
    ("rules", "subject", "name"),
    [
        (DEFAULT_OF_THE_ROLES, "CN=kafka1", "kafka1"),
        (DEFAULT_OF_THE_ROLES, "CN=kafka1,O=x", "kafka1"),
        (DEFAULT_OF_THE_ROLES, "O=x,CN=kafka1", "O=x,CN=kafka1"),
        ("RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/, DEFAULT", "CN=Kafka1,OU=ServiceUsers,O=Org", "Kafka1"),
        ("RULE:^CN=(.*?),.*$/$1@x/L", "CN=Kafka1,O=x", "kafka1@x"),
        ("RULE:^.*CN=([^,]+).*$/$1/U", "O=x,CN=kafka1", "KAFKA1"),
        ("RULE:.*/x/", "CN=kafka1", "xx"),
        ("RULE:CN=(.*?)/$1/", "CN=kafka1", "kafka1"),
        ("RULE:^CN=(?<n>[^,]+).*$/${n}/", "CN=kafka1,O=x", "kafka1"),
        ("RULE:^CN=([^,]+).*$/$12/", "CN=kafka1,O=x", "kafka12"),
        ("RULE:^CN=([^,]+).*$/$2-$1/", "CN=kafka1", "$2-kafka1"),
        ("RULE:^CN=([^,]+).*$/$0/", "CN=kafka1", "CN=kafka1"),
        (r"RULE:^CN=([^,]+)(,.*)?$/a\/$1$2/L", "CN=kafka1", "a/kafka1"),
        (r"RULE:^\QCN=\E(\w+).*$/$1/", "CN=kafka1,O=x", "kafka1"),
        ("RULE:a/b/, ,DEFAULT", "CN=kafka1", "CN=kafka1"),
        (r"RULE:^CN=([^\[,]+)\[?.*$/$1/", "CN=kafka1[x", "kafka1"),
    ],
)
def test_the_first_rule_that_matches_the_whole_subject_decides(rules: str, subject: str, name: str) -> None:
    assert principal(rules, subject) == name


@pytest.mark.parametrize(
    "rules",
    ["", "RULE:^O=.*$/x/", "RULE:^CN=", "default", "RULE:^CN=(.*)$/$1", "RULE:^CN=(.*)$/$1/X", "DEFAULT RULE:a/b/",
     "RULE:^CN=.*$/$1/", "RULE:^CN=(.*)$/$/", "RULE:^CN=(.*)$/${n}/"],
)  # fmt: skip
def test_rules_that_kafka_refuses_or_that_lead_nowhere_are_errors(rules: str) -> None:
    with pytest.raises(RuleError):
        principal(rules, "CN=kafka1")


@pytest.mark.parametrize(
    "rules",
    [r"RULE:^\p{Alpha}+=.*$/x/", "RULE:^[a-z&&[^b]]=.*$/x/", "RULE:[/x/", "RULE:^CN=([a-z[0-9]]+).*$/$1/",
     r"RULE:^CN=([\w[-.]]+).*$/$1/L", "RULE:^CN=([^,[+]]+).*$/$1/", r"RULE:^CN=([\]a[0-9]]+).*$/$1/"],
)  # fmt: skip
def test_a_pattern_that_cannot_be_followed_is_said_to_be_unknown(rules: str) -> None:
    with pytest.raises(UnknownRuleError):
        principal(rules, "CN=kafka1")
