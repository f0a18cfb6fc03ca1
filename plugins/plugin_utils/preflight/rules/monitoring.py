# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on Prometheus and Alertmanager: who reaches them, their ports, and what they are configured with.

They judge the hosts of the group prometheus that take part in the run, since others may have a group of this name; and
the Alertmanager of all hosts where runs silence what they cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ....module_utils._core.addresses import is_address, is_loopback, plain_host
from ...inventory.model import Inventory, Node
from ...inventory.variables import UNDEFINED, as_int
from ...monitoring.targets import PREFIX
from ..by_value import dicts
from ..rule import Problem, rule
from .listeners import binds_meet
from .mirror_canary import canary_ports

#: Prometheus compares passwords by bcrypt alone (exporter-toolkit, web configuration).
BCRYPT = re.compile(r"\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}")
#: What Prometheus takes as a time of retention (model.ParseDuration); units fall in size.
RETENTION = re.compile(r"(?=\d)(\d+y)?(\d+w)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?")

#: Where an API of HTTP is, without a login, a query and a fragment: its paths are written behind it.
API = re.compile(r"https?://[^\s/?#@]+(/[^\s?#]*)?")


@rule(
    variable="kafka_monitoring_web_config",
    allowed="tls_server_config and basic_auth_users, or a loopback address in kafka_monitoring_host",
    fix="set both parts (docs/monitoring.md), or kafka_monitoring_host to 127.0.0.1",
)
def monitoring_open(inventory: Inventory) -> Iterator[Problem]:
    """Prometheus listens on another address than loopback without TLS, or without logins."""
    for host in _monitors(inventory):
        bound, web = plain_host(host.text("kafka_monitoring_host")), host.get("kafka_monitoring_web_config", {})
        if _unknown(host, "host") or _unknown(host, "web_config") or (is_address(bound) and is_loopback(bound)):
            continue
        for part, what in (
            ("tls_server_config", "passwords for Prometheus would travel in clear"),
            ("basic_auth_users", "everyone who reaches the port can read Prometheus"),
        ):
            if isinstance(web, Mapping) and not web.get(part):
                yield Problem(host, what, f"no {part}")


@rule(
    variable="kafka_monitoring_web_config",
    allowed="digests by bcrypt",
    fix="write the digest instead (htpasswd -nB USER), from the vault",
)
def monitoring_login_in_clear(inventory: Inventory) -> Iterator[Problem]:
    """A login of Prometheus is no digest by bcrypt, the only one that it takes."""
    for host in _monitors(inventory):
        web = host.get("kafka_monitoring_web_config", {})
        users = web.get("basic_auth_users") if isinstance(web, Mapping) else None
        for name, digest in users.items() if isinstance(users, Mapping) else ():
            if digest is not UNDEFINED and not BCRYPT.fullmatch(str(digest)):
                yield Problem(host, f"the password of user {name} is no digest by bcrypt", "another value")


@rule(
    variable="kafka_monitoring_web_config",
    allowed="logins (basic_auth_users) without certificates of clients",
    fix="take client_auth_type out of tls_server_config",
)
def monitoring_client_certificates(inventory: Inventory) -> Iterator[Problem]:
    """Prometheus asks clients for certificates, so the run could not see whether it answers."""
    for host in _monitors(inventory):
        web = host.get("kafka_monitoring_web_config", {})
        tls = web.get("tls_server_config") if isinstance(web, Mapping) else None
        asks = tls.get("client_auth_type") if isinstance(tls, Mapping) else None
        if asks not in (None, "", "NoClientCert", "RequestClientCert"):
            yield Problem(host, "Prometheus would ask this run for a certificate", asks)


@rule(variable="kafka_monitoring_port", fix="give each a port of its own")
def monitoring_port_taken(inventory: Inventory) -> Iterator[Problem]:
    """The port of Prometheus or Alertmanager is one that something else opens on the same machine."""
    opened = [(node.machine, one.port, one.host, node.name) for node in inventory.processes for one in node.ports()]
    opened += [
        (page.machine, as_int(page.get("kafka_page_port")), plain_host(page.text("kafka_page_host")), page.name)
        for page in inventory.pages
    ]
    opened += [
        (mirror.machine, port, bound, f"the canary of {mirror.name}") for mirror, port, bound in canary_ports(inventory)
    ]
    for host in _monitors(inventory):
        for program, variable, bound in (
            ("Prometheus", "kafka_monitoring_port", plain_host(host.text("kafka_monitoring_host"))),
            ("Alertmanager", "kafka_monitoring_alertmanager_port", "127.0.0.1"),
        ):
            port = as_int(host.get(variable))
            takers = [
                name
                for machine, other, where, name in opened
                if (machine, other) == (host.machine, port) and binds_meet([where, bound])
            ]
            if port and takers:
                yield Problem(
                    host, f"{takers[0]} opens the port of {program} on the same machine", port, variable=variable
                )
            opened.append((host.machine, port, bound, f"{program} of {host.name}"))


@rule(variable="kafka_monitoring_retention", allowed="a duration such as 15d or 1y6w", fix="correct the value")
def monitoring_retention(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_monitoring_retention` is no duration as Prometheus writes it."""
    for host in _monitors(inventory):
        if not _unknown(host, "retention") and not RETENTION.fullmatch(host.text("kafka_monitoring_retention")):
            yield Problem(host, "this is no duration", host.text("kafka_monitoring_retention"))


@rule(variable="kafka_monitoring_route", allowed="names of kafka_monitoring_receivers", fix="correct the name")
def monitoring_receiver(inventory: Inventory) -> Iterator[Problem]:
    """The route of alerts names a receiver that is not there, or none, or two receivers have one name."""
    for host in _monitors(inventory):
        if _unknown(host, "receivers") or _unknown(host, "route"):
            continue
        names = [str(one.get("name") or "") for one in dicts(host, "kafka_monitoring_receivers")]
        for name in dict.fromkeys(names):
            if not name or names.count(name) > 1:
                what = "a receiver has no name" if not name else "two receivers have one name"
                yield Problem(host, what, repr(name), allowed="a name for each", variable="kafka_monitoring_receivers")
        route = host.get("kafka_monitoring_route", {})
        if isinstance(route, Mapping) and not route.get("receiver"):
            yield Problem(host, "the first route of alerts has no receiver", "no receiver")
        for asked in _receivers(route):
            if asked not in names:
                yield Problem(host, "there is no such receiver of alerts", asked)


@rule(
    variable="kafka_monitoring_scrape_configs",
    allowed=f"a job_name each, which does not begin with {PREFIX}-",
    fix="correct the job_name",
)
def monitoring_scrape_config(inventory: Inventory) -> Iterator[Problem]:
    """A scrape configuration of the user has no `job_name`, one of this collection, or that of another one."""
    for host in _monitors(inventory):
        names = [
            "" if one.get("job_name") is UNDEFINED else str(one.get("job_name") or "")
            for one in dicts(host, "kafka_monitoring_scrape_configs")
        ]
        for name in dict.fromkeys(names):
            if not name or name.startswith(f"{PREFIX}-") or names.count(name) > 1:
                yield Problem(host, "Prometheus could not tell this scrape configuration from others", repr(name))


@rule(
    variable="kafka_monitoring_alertmanager_url",
    allowed="http:// or https://, a host, a port and a path",
    fix="correct it; a login goes to kafka_monitoring_alertmanager_user and kafka_monitoring_alertmanager_password",
)
def monitoring_alertmanager_url(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_monitoring_alertmanager_url` is no address of an API, or has a login in it, which output shows."""
    for node in inventory.processes:
        url = node.text("kafka_monitoring_alertmanager_url")
        if "@" in url:
            yield Problem(node, "every run would show the login in it", "a login in the address")
        elif url and not API.fullmatch(url):
            yield Problem(node, "this is no address of an Alertmanager", url)


def _monitors(inventory: Inventory) -> list[Node]:
    return [host for host in inventory.monitors if host.name in inventory.play_hosts]


def _unknown(host: Node, name: str) -> bool:
    return host.variables.get(f"kafka_monitoring_{name}") is UNDEFINED


def _receivers(route: Any) -> Iterator[str]:
    """Yield the receivers that a route and those below it name."""
    if not isinstance(route, Mapping):
        return
    if route.get("receiver") not in (None, "", UNDEFINED):
        yield str(route["receiver"])
    below = route.get("routes")
    for one in below if isinstance(below, (list, tuple)) else ():
        yield from _receivers(one)
