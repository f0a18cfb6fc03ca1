"""The settings of the service: what is wrong is named, whatever it is, and all of it at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from page.config import Config, config_of
from page.login import digest

ORDERS = {"bootstrap_servers": ["kafka1:9092"]}
GOOD: dict[str, Any] = {"clusters": {"orders": ORDERS}}
DIGEST = digest("secret", b"s" * 16)
USERS = {"prometheus": DIGEST}
TLS = {"tls_certificate": "/etc/page.pem", "tls_key": "/etc/page.key"}
#: What is reached from elsewhere.
OPEN: dict[str, Any] = {**GOOD, **TLS, "users": USERS, "host": "0.0.0.0"}


def read(given: Any) -> Config:
    return config_of(given if isinstance(given, str) else json.dumps(given), lambda _certificate, _key: [])


def wrong(given: Any) -> list[str]:
    with pytest.raises(RefusedError) as caught:
        read(given)
    return caught.value.violations


def test_defaults_listen_on_loopback() -> None:
    found = read(GOOD)
    assert (found.host, found.port, found.interval, found.clusters["orders"].request_timeout) == (
        "127.0.0.1", 9406, 30, 10,
    )  # fmt: skip
    assert (found.users, found.tls) == ({}, None)
    assert read({**GOOD, "host": "::1"}).host == "::1"
    proxies = ["192.0.2.1", "10.0.0.0/8", "2001:db8::/64"]
    assert (found.trusted_proxies, read({**GOOD, "trusted_proxies": proxies}).trusted_proxies) == ((), tuple(proxies))
    assert (found.reports, read({**GOOD, "reports": "/reports"}).reports) == ("", "/reports")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "kafka1.example.com", "localhost"])
def test_off_loopback_needs_login_and_tls(host: str) -> None:
    found = read({**OPEN, "host": host})
    assert (found.host, found.tls, list(found.users)) == (host, ("/etc/page.pem", "/etc/page.key"), ["prometheus"])
    assert DIGEST.split("$")[-1] not in repr(found)
    missing_users, missing_tls = wrong({**GOOD, "host": host})
    assert "users is empty" in missing_users
    assert "tls_certificate" in missing_tls
    assert len(wrong({**GOOD, "host": host, "users": USERS})) == 1
    assert len(wrong({**GOOD, "host": host, **TLS})) == 1
    assert len(wrong({**OPEN, "host": host, "users": {}})) == 1


def test_a_login_and_tls_serve_on_loopback_too_each_alone() -> None:
    assert read({**GOOD, "users": USERS}).tls is None
    assert read({**GOOD, **TLS}).users == {}


def cluster(**options: Any) -> dict[str, Any]:
    return {"clusters": {"orders": {**ORDERS, **options}}}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("kafka:", "no JSON"),
        ("", "no JSON"),
        ('{"port": 1', "no JSON"),
        ("[" * 100_000, "nested too deeply"),
        ([], "no object"),
        (None, "no object"),
        ({}, "clusters is no object"),
        ({"clusters": {}}, "clusters is no object"),
        ({"clusters": [ORDERS]}, "clusters is no object"),
        ({"clusters": None}, "clusters is no object"),
        ({"clusters": {str(one): ORDERS for one in range(51)}}, "clusters is no object of 1 to 50"),
        ({"clusters": {"": ORDERS}}, "printable"),
        ({"clusters": {"n" * 300: ORDERS}}, "printable"),
        ({"clusters": {"a\nb": ORDERS}}, "printable"),
        ({"clusters": {"\ud800": ORDERS}}, "printable"),
        ({"clusters": {" a": ORDERS}}, "printable"),
        ({"clusters": {"orders": None}}, 'clusters."orders": it is no object'),
        ({"clusters": {"orders": ["kafka1:9092"]}}, 'clusters."orders": it is no object'),
        ({"clusters": {"orders": {}}}, 'clusters."orders": bootstrap_servers'),
        (cluster(bootstrap_servers="kafka1:9092"), "bootstrap_servers"),
        (cluster(bootstrap_servers=["kafka1"]), "bootstrap_servers"),
        (cluster(bootstrap_servers=[["kafka1:9092"]]), "bootstrap_servers"),
        (cluster(bootstrap_servers=[]), "bootstrap_servers"),
        (cluster(pasword="x"), '"pasword" is unknown'),
        (cluster(security_protocol="TLS"), "security_protocol"),
        (cluster(security_protocol=["SSL"]), "security_protocol"),
        (cluster(security_protocol="SASL_SSL", sasl_username="u"), "SASL_SSL, which needs sasl_mechanism. Set it."),
        (cluster(sasl_mechanism="PLAIN", sasl_username="u"), "PLAIN, which needs sasl_password. Set it."),
        (cluster(sasl_mechanism="GSSAPI"), "needs sasl_kerberos_keytab, sasl_kerberos_principal. Set them."),
        (cluster(sasl_username="u", sasl_password="secret"), "security_protocol is PLAINTEXT"),
        (cluster(security_protocol="SSL", ssl_certificate_location="/c"), "ssl_key_location is missing"),
        (cluster(sasl_password=7), "sasl_password"),
        (cluster(sasl_password=None), "sasl_password"),
        (cluster(request_timeout=0), "request_timeout"),
        (cluster(request_timeout=True), "request_timeout"),
        (cluster(request_timeout=10**4000), "request_timeout"),
        ({**GOOD, "expected": []}, "expected is no object"),
        ({**GOOD, "expected": {"order": {}}}, "\"order\", which is not in clusters"),
        ({**GOOD, "expected": {"orders": {"nodes": 3}}}, 'expected."orders": nodes is no list'),
        ({**GOOD, "port": "9406"}, "port"),
        ({**GOOD, "port": None}, "port is null"),
        ({**GOOD, "port": {"a": 1}}, "port is an object"),
        ({**GOOD, "port": 65536}, "port"),
        ({**GOOD, "interval": True}, "interval is true"),
        ({**GOOD, "interval": 1.5}, "interval"),
        ({**GOOD, "stale_after": float("nan")}, "stale_after"),
        ({**GOOD, "details_interval": 0}, "details_interval is 0"),
        ({**GOOD, "details_interval": 86401}, "details_interval"),
        ({**GOOD, "details_interval": 1.5}, "details_interval"),
        ({**GOOD, "details_interval": "600"}, "details_interval"),
        ({**GOOD, "intervall": 5}, '"intervall" is unknown'),
        ({**GOOD, "kafka": ORDERS}, '"kafka" is unknown'),
        ({**GOOD, "k" * 300: 5}, r'"k{59}\.\.\. is unknown'),
        ({**OPEN, "host": None}, "host is null"),
        ({**OPEN, "host": ""}, "host"),
        ({**OPEN, "host": "a b"}, "host"),
        ({**OPEN, "host": "127.0.0.1\n"}, "host"),
        ({**OPEN, "host": ["127.0.0.1"]}, "host is a list"),
        ({**GOOD, "trusted_proxies": "192.0.2.1"}, "trusted_proxies is no list"),
        ({**GOOD, "trusted_proxies": ["192.0.2.1"] * 51}, "trusted_proxies is no list of at most 50"),
        ({**GOOD, "trusted_proxies": ["192.0.2.1", "proxy"]}, 'trusted_proxies has "proxy"'),
        ({**GOOD, "trusted_proxies": ["192.0.2.1/24"]}, "trusted_proxies has"),
        ({**GOOD, "trusted_proxies": [3]}, "trusted_proxies has 3"),
        ({**GOOD, "trusted_proxies": ["0.0.0.0/0"]}, "trusted_proxies has"),
        ({**GOOD, "trusted_proxies": ["*"]}, "trusted_proxies has"),
        ({**GOOD, "tls_key": "/key"}, "tls_key is set without tls_certificate"),
        ({**GOOD, "tls_certificate": "/certificate"}, "tls_certificate is set without tls_key"),
        ({**GOOD, **TLS, "tls_key": ""}, "tls_key"),
        ({**GOOD, **TLS, "tls_key": None}, "tls_key is null"),
        ({**GOOD, **TLS, "tls_key": "a\0b"}, "tls_key"),
        ({**GOOD, "reports": None}, "reports is null"),
        ({**GOOD, "reports": "reports"}, "reports"),
        ({**GOOD, "reports": ["/reports"]}, "reports is a list"),
        ({**GOOD, "reports": "/a\0b"}, "reports"),
        ({**GOOD, "users": None}, "users is no object"),
        ({**GOOD, "users": ["prometheus"]}, "users is no object"),
        ({**GOOD, "users": {"prometheus": "secret"}}, "prometheus.*form scrypt"),
        ({**GOOD, "users": {"prometheus": None}}, "prometheus.*form scrypt"),
        ({**GOOD, "users": {"": DIGEST}}, "none a colon"),
        ({**GOOD, "users": {"a:b": DIGEST}}, "none a colon"),
        ({**GOOD, "users": {"a": DIGEST, "b": DIGEST.replace("$8$1$", "$8$2$")}}, '"b" is not of the form scrypt'),
        ('{"clusters": {"orders": %s, "orders": %s}}' % ((json.dumps(ORDERS),) * 2), '"orders" stands twice'),
        (f'{{"port": 1, "port": 2, {json.dumps(GOOD)[1:]}', '"port" stands twice'),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(given: Any, named: str) -> None:
    (found,) = wrong(given)
    with pytest.raises(RefusedError, match=named):
        read(given)
    assert "secret" not in found
    assert len(found) < 250


def test_all_is_said_at_once() -> None:
    given = {
        "host": "0.0.0.0", "port": True, "what": 1, "tls_key": "/key", "users": {"a:b": "x"}, "expected": {"none": 1},
        "clusters": {"orders": {"bootstrap_servers": []}, "payments": {"bootstrap_servers": ["kafka1"], "x": 1}, "": 3},
    }  # fmt: skip
    found = wrong(given)
    for named in (
        "what",
        "port",
        "without tls_certificate",
        "in clear",
        "a:b",
        "none",
        "orders",
        "payments",
        '"x"',
        '""',
    ):
        assert any(named in one for one in found), (named, found)
    assert len(found) == len(set(found))


def test_what_is_wrong_with_the_files_of_tls_is_said_with_the_rest() -> None:
    with pytest.raises(RefusedError) as caught:
        config_of(json.dumps({**OPEN, "port": 0}), lambda certificate, key: [f"{certificate} {key} are bad"])
    assert len(caught.value.violations) == 2
    assert "/etc/page.pem /etc/page.key are bad" in caught.value.violations
