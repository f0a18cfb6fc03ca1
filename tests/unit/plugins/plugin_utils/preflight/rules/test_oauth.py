"""Preflight rows on logins by tokens: whose tokens are taken, and whether brokers get the keys of the issuer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.oauth import TokenIssuer
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import UNDEFINED
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.host import Host, host_of
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rule import RULES
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.security import token_properties
from tests.support.certificates import issue
from tests.support.preflight_inventories import combined

LISTENERS = [
    {"name": "CLIENT", "port": 9092, "protocol": "SASL_SSL", "purpose": "clients"},
    {"name": "BROKER", "port": 9094, "protocol": "SSL", "purpose": "brokers"},
    {"name": "CONTROLLER", "port": 9093, "protocol": "SSL", "purpose": "controllers"},
]
OAUTH = {"issuer": "https://id.example.com", "jwks_url": "https://id.example.com/keys", "audience": ["kafka"]}
GOOD: dict[str, Any] = {
    "kafka_listeners": LISTENERS,
    "kafka_tls_source": "files",
    "kafka_authorizer": True,
    "kafka_admin_user": "admin",
    "kafka_admin_password": "f3-long-and-random",
    "kafka_sasl_mechanisms": ["SCRAM-SHA-512", "OAUTHBEARER"],
    "kafka_oauth": OAUTH,
}
REPLACED = "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls="
PROFILE = "principal_of_profile"
NATIVE = "native_token_property"
LISTENER = "listener.name.client"
UNSECURED = (
    "org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"
)


def oauth(**fields: Any) -> dict[str, Any]:
    """The good issuer with some fields changed; None leaves one out."""
    return {"kafka_oauth": {key: value for key, value in {**OAUTH, **fields}.items() if value is not None}}


BAD: list[tuple[dict[str, Any], str, list[str]]] = [
    ({"kafka_oauth": {}}, "no_token_issuer", ["no issuer, no jwks_url, no audience"]),
    ({"kafka_oauth": None}, "no_token_issuer", ["no issuer, no jwks_url, no audience"]),
    (oauth(audience=None), "no_token_issuer", ["no audience"]),
    (oauth(audience=[]), "no_token_issuer", ["no audience"]),
    (oauth(jwks_url=None), "no_token_issuer", ["no jwks_url"]),
    (oauth(jwks_url=""), "no_token_issuer", ["no jwks_url"]),
    (oauth(issuer=["a", "b"]), "bad_token_issuer", ["kafka_oauth.issuer", "2 issuers", "one text"]),
    (oauth(issuer="https://a, https://b"), "bad_token_issuer", ["holds a comma or a blank"]),
    (oauth(audience="kafka"), "bad_token_issuer", ["kafka_oauth.audience", "found: text", "a list"]),
    (oauth(audience=["kafka,web"]), "bad_token_issuer", ["kafka_oauth.audience[0]", "without commas"]),
    (oauth(audience=["kafka", " "]), "bad_token_issuer", ["kafka_oauth.audience[1]"]),
    (oauth(audience=[{"a": 1}]), "bad_token_issuer", ["a dict"]),
    (oauth(audiences=["kafka"]), "bad_token_issuer", ["field that does not exist", "audiences"]),
    (oauth(principal_claim=["sub"]), "bad_token_issuer", ["principal_claim has the wrong type"]),
    (oauth(clock_skew="soon"), "unclear_value", ["kafka_oauth.clock_skew", "soon"]),
    (oauth(clock_skew=86400), "unclear_value", ["from 0 to 300"]),
    ({"kafka_oauth": "https://id.example.com"}, "wrong_type", ["kafka_oauth", "a dict"]),
    (oauth(jwks_url="http://id.example.com/keys"), "bad_jwks_url", ["anybody on the way can replace the keys"]),
    (oauth(jwks_url="https://u:hunter2@id.example.com/keys"), "bad_jwks_url", ["a user or a password"]),
    (oauth(jwks_url="https://a/keys,https://b/keys"), "bad_jwks_url", ["a comma"]),
    (oauth(jwks_url="https://a/keys#x"), "bad_jwks_url", ["a fragment"]),
    (oauth(jwks_url="file:///etc/keys"), "bad_jwks_url", ["https://host/path"]),
    (oauth(jwks_url="id.example.com/keys"), "bad_jwks_url", ["https://host/path"]),
    (oauth(jwks_url="https://id.example.com:99999/keys"), "bad_jwks_url", ["port cannot be read"]),
    (oauth(jwks_url="*"), "bad_jwks_url", ["https://host/path"]),
    (oauth(ca_file="/nowhere/ca.pem"), "bad_issuer_ca", ["/nowhere/ca.pem", "No such file"]),
    ({"kafka_sasl_mechanisms": ["SCRAM-SHA-512"]}, "tokens_not_offered", ["SCRAM-SHA-512", "remove kafka_oauth"]),
    ({"kafka_sasl_mechanisms": ["OAUTHBEARER", "SCRAM-SHA-512"]}, "no_endpoint_url", ["kafka_oauth.endpoint_url"]),
    (oauth(endpoint_url="http://id.example.com/token"), "bad_endpoint_url", ["can read the secrets of clients"]),
    (oauth(endpoint_url="https://u:hunter2@id.example.com/token"), "bad_endpoint_url", ["a user or a password"]),
    (oauth(endpoint_url="https://a/token,https://b/token"), "bad_endpoint_url", ["a comma"]),
    (oauth(endpoint_url=["https://a/token"]), "bad_token_issuer", ["endpoint_url has the wrong type"]),
    ({"kafka_jvm_options": [f"{REPLACED}*"]}, "token_addresses_replaced", ["may not ask the issuer"]),
    ({"kafka_jvm_options": [REPLACED]}, "token_addresses_replaced", ["may not ask the issuer"]),
    (oauth(principal_claim="preferred_username"), PROFILE, ["preferred_username", "can take the name of a super user"]),
    (oauth(principal_claim=" email "), PROFILE, ["kafka_oauth.principal_claim", "azp"]),
    (
        {"kafka_config": {f"{LISTENER}.oauthbearer.sasl.server.callback.handler.class": UNSECURED}},
        NATIVE,
        ["callback.handler.class", "not by kafka_oauth", "kafka_config["],
    ),
    ({"kafka_config": {f"{LISTENER}.oauthbearer.sasl.oauthbearer.expected.audience": "web"}}, NATIVE, ["audience"]),
]


@pytest.mark.parametrize(("wrong", "row", "words"), BAD)
def test_each_mistake_has_its_own_message(wrong: dict[str, Any], row: str, words: list[str]) -> None:
    found = check_inventory(combined(**{**GOOD, **wrong}))
    assert [one.name for one in found] == [row]
    assert all(word in found[0].sentence() for word in words), found[0].sentence()
    assert "hunter2" not in found[0].sentence()


@pytest.mark.parametrize(
    "right",
    [
        {},
        oauth(jwks_url="http://127.0.0.1:8080/keys"),
        {**oauth(endpoint_url="https://id.example.com/token"), "kafka_sasl_mechanisms": ["OAUTHBEARER"]},
        {**oauth(endpoint_url=UNDEFINED), "kafka_sasl_mechanisms": ["OAUTHBEARER", "SCRAM-SHA-512"]},
        oauth(endpoint_url="http://127.0.0.1:8080/token", scope="kafka"),
        oauth(jwks_url="http://[::1]:8080/keys"),
        oauth(jwks_url="https://id.example.com:8443/realms/a%20b/certs?x=1"),
        oauth(principal_claim="azp", clock_skew="10"),
        {"kafka_config": {f"{LISTENER}.oauthbearer.connections.max.reauth.ms": 600000}},
        oauth(issuer=UNDEFINED, jwks_url=UNDEFINED, audience=UNDEFINED),
        {"kafka_jvm_options": [f"{REPLACED}https://id.example.com/token,https://id.example.com/keys"]},
    ],
)
def test_what_is_right_passes(right: dict[str, Any]) -> None:
    assert check_inventory(combined(**{**GOOD, **right})) == []


def test_every_property_by_which_a_listener_judges_tokens_stays_ours() -> None:
    said = TokenIssuer(OAUTH["issuer"], OAUTH["jwks_url"], ("kafka",))
    tuned = {"oauthbearer.connections.max.reauth.ms", "sasl.server.max.receive.size"}
    for key in token_properties(LISTENER, said, "4.3.1"):
        found = list(RULES[NATIVE].violations(combined(**GOOD, kafka_config={key: "1"})))
        assert bool(found) != (key.removeprefix(f"{LISTENER}.") in tuned), key


def test_who_writes_a_claim_matters_only_where_an_authorizer_knows_super_users() -> None:
    variables = {**GOOD, **oauth(principal_claim="email")}
    assert list(RULES[PROFILE].violations(combined(**variables)))
    assert not list(RULES[PROFILE].violations(combined(**{**variables, "kafka_authorizer": False})))


def test_a_ca_is_read_where_the_run_is(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("no certificate")
    found = check_inventory(combined(**{**GOOD, **oauth(ca_file=str(file))}))
    assert [one.name for one in found] == ["bad_issuer_ca"]
    file.write_bytes(issue("ca", ca=True).pem())
    assert check_inventory(combined(**{**GOOD, **oauth(ca_file=str(file))})) == []


def test_what_is_known_of_tokens_is_not_said_of_those_that_kafka_oauth_judges() -> None:
    accepted = ["many_brokers", "many_partitions", "large_partitions", "no_retention"]
    known = check_inventory(combined(**GOOD, preflight_accept=accepted))
    assert known
    assert not [one for one in known if "CVE-2026-110985" in one.sentence()]


def answering(issuer: dict[str, Any] | None) -> list[Host]:
    return [host_of(node, {"disks": [], "issuer": issuer}) for node in combined(**GOOD).nodes]


def said(rule: str, issuer: dict[str, Any] | None) -> list[str]:
    return [one.found for one in RULES[rule].violations(answering(issuer))]


def test_an_issuer_that_is_out_of_reach_ends_the_run_with_the_reason() -> None:
    asked = {"problem": "it does not answer: Connection refused", "keys": 0, "behind": None, "clock_skew": 30}
    assert set(said("issuer_unreachable", asked)) == {"it does not answer: Connection refused"}
    assert not said("issuer_unreachable", {**asked, "problem": "", "keys": 2})
    assert not said("issuer_unreachable", None)
    assert not said("issuer_clock", asked)


@pytest.mark.parametrize(
    ("behind", "words"), [(361.4, "361 s behind"), (-31.0, "31 s ahead of"), (30.0, ""), (0.4, "")]
)
def test_the_clock_of_an_issuer_may_differ_as_tokens_may(behind: float, words: str) -> None:
    found = said("issuer_clock", {"problem": "", "keys": 1, "behind": behind, "clock_skew": 30})
    assert bool(found) == bool(words)
    assert all(words in one for one in found)
