"""Read the settings of the service from JSON. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._core import service_settings as taken
from ansible_collections.streamops.kafka.plugins.module_utils._core.addresses import is_address, is_loopback, is_network
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from page.alerts.settings import Alertmanager, alertmanager_of
from page.clusters import clusters_of
from page.core.checks import settings_of, short
from page.expected import Expected, expected_of
from page.flows import flows_of
from page.login import Scrypt, scrypt_of
from page.records.rights import Rights, rights_of

#: Paths of the certificate and its key: both or none.
TLS = ("tls_certificate", "tls_key")
KNOWN = {"host", "trusted_proxies", "users", "clusters", "expected", "mirrors", "records", "reports", "alertmanager"}
KNOWN |= {*TLS, *taken.PAGE_NUMBERS}


@dataclass(frozen=True)
class Config:
    """Settings of the service; times are in seconds, C(series_limit) is a number of series for each cluster."""

    clusters: Mapping[str, Connection]
    #: By name of the cluster; one that is not named is compared with nothing.
    expected: Mapping[str, Expected]
    #: Flows of mirrors with an end in a cluster.
    mirrors: tuple[Flow, ...]
    users: Mapping[str, Scrypt] = field(repr=False)
    #: Who may read records of which topics.
    records: Rights
    #: Paths of the certificate and of its key.
    tls: tuple[str, str] | None
    host: str
    #: Addresses and networks of proxies whose X-Forwarded-For names the client.
    trusted_proxies: tuple[str, ...]
    #: The directory of reports; empty for none.
    reports: str
    alertmanager: Alertmanager | None
    port: int
    interval: int
    poll_timeout: int
    stale_after: int
    details_interval: int
    series_limit: int


def config_of(text: str, wrong_pair: Callable[[str, str], list[str]]) -> Config:
    """Return the settings in a JSON text; RefusedError names every setting that is wrong, each with its fix.

    C(wrong_pair) tells what is wrong with the files of a certificate and its key.
    """
    given, numbers, wrong = settings_of(text, KNOWN, taken.PAGE_NUMBERS, "clusters")
    host = given.get("host", taken.PAGE_HOST)
    tls, wrong_tls = _tls(given, wrong_pair)
    users, wrong_users = _users(given.get("users", {}))
    clusters, wrong_clusters = clusters_of(given.get("clusters"))
    named = given["clusters"] if isinstance(given.get("clusters"), dict) else ()
    expected, wrong_expected = expected_of(given.get("expected", {}), named)
    mirrors, wrong_mirrors = flows_of(given.get("mirrors", []), named)
    trusted_proxies = given.get("trusted_proxies", [])
    wrong += _wrong_proxies(trusted_proxies)
    wrong += [*_wrong_host(host, bool(given.get("users")), given.keys() >= set(TLS)), *wrong_tls]
    records, wrong_records = rights_of(given.get("records", {}), users, named)
    wrong += wrong_records
    reports = given.get("reports", "")
    alertmanager, wrong_alertmanager = alertmanager_of(given.get("alertmanager"))
    wrong += [*wrong_users, *wrong_clusters, *wrong_expected, *wrong_mirrors]
    if not isinstance(reports, str) or not taken.is_directory_of_reports(reports):
        wrong.append(f"reports is {short(reports)}. Set the absolute path of a directory, or leave it out.")
    wrong += wrong_alertmanager
    if wrong:
        raise RefusedError("configuration", wrong)
    proxies = tuple(trusted_proxies)
    return Config(clusters, expected, mirrors, users, records, tls, host, proxies, reports, alertmanager, **numbers)


def _wrong_host(host: object, has_users: bool, has_tls: bool) -> list[str]:
    if not isinstance(host, str) or not taken.is_bound_host(host):
        return [f"host is {short(host)}. Set an address of this machine, as 127.0.0.1."]
    # A name may lead anywhere, and elsewhere tomorrow.
    if is_address(host) and is_loopback(host):
        return []
    wrong = []
    if not has_users:
        wrong.append(f"host is {host}, which others reach, and users is empty. Set users, or host to 127.0.0.1.")
    if not has_tls:
        wrong.append(
            f"host is {host}, which others reach, so passwords would go over the network in clear. Set tls_certificate "
            "and tls_key, or host to 127.0.0.1."
        )
    return wrong


def _wrong_proxies(proxies: object) -> list[str]:
    if not isinstance(proxies, list) or len(proxies) > taken.MOST:
        return [f"trusted_proxies is no list of at most {taken.MOST} addresses. Correct it."]
    return [
        f"trusted_proxies has {short(proxy)}. Give an address, as 192.0.2.1, or a network, as 192.0.2.0/24."
        for proxy in proxies
        # With all addresses there are each client could name itself.
        if not is_network(proxy)
    ]


def _tls(
    given: Mapping[str, Any], wrong_pair: Callable[[str, str], list[str]]
) -> tuple[tuple[str, str] | None, list[str]]:
    set_here = {name: given[name] for name in TLS if name in given}
    wrong = [f"{name} is {short(path)}. Set the path of a PEM file." for name, path in set_here.items()
             if not isinstance(path, str) or not path or "\0" in path]  # fmt: skip
    if len(set_here) == 1:
        (name,) = set_here
        missing = next(one for one in TLS if one != name)
        wrong.append(f"{name} is set without {missing}. Set both, or none.")
    if wrong or not set_here:
        return None, wrong
    pair = set_here["tls_certificate"], set_here["tls_key"]
    return pair, wrong_pair(*pair)


def _users(given: object) -> tuple[dict[str, Scrypt], list[str]]:
    if not isinstance(given, dict) or len(given) > taken.MOST:
        return {}, [f"users is no object of at most {taken.MOST} digests by name of the user. Correct it."]
    users, wrong = {}, []
    for name, text in given.items():
        if not taken.is_user(name):
            wrong.append(
                f"users has {short(name)}. Name a user with 1 to {taken.LONGEST_NAME} printable characters, "
                "none a colon."
            )
        try:
            users[name] = scrypt_of(text if isinstance(text, str) else "")
        except ValueError as error:
            wrong.append(f"users: the digest of {short(name)} {error}. Make it anew (page/login.py, digest).")
    return users, wrong
