# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the page: who may read it, where it listens, and how it logs in at each cluster that it shows."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from ....module_utils._core.addresses import is_address, is_loopback, plain_host
from ....module_utils._core.service_settings import LONGEST_NAME, is_user
from ...inventory.kerberos import Kerberos
from ...inventory.model import PAGE_GROUP, Cluster, Inventory, Listener, Node
from ...inventory.variables import UNDEFINED, as_int, names
from ...render.security import SASL_PROTOCOLS
from ..rule import Problem, rule
from ..service_logins import KNOWN_MECHANISMS, NO_SUPER_USER, PAGE
from .kerberos import realms
from .listeners import binds_meet
from .monitoring import API
from .secrets import WEAK

_USERS = (
    f"names of 1 to {LONGEST_NAME} printable characters without a colon and without blanks around them, each with a "
    "password"
)


@rule(
    variable="kafka_page_users",
    allowed="at least one user, or a loopback address in kafka_page_host",
    fix="set kafka_page_users (passwords from the vault), or kafka_page_host to 127.0.0.1",
)
def page_without_login(inventory: Inventory) -> Iterator[Problem]:
    """The page is open to everyone who reaches its port: no user, and not bound to loopback."""
    for page in _reachable(inventory):
        if not _unknown(page, "kafka_page_users") and not page.get("kafka_page_users"):
            yield Problem(page, "everyone who reaches the port can read the page", "no user")


@rule(
    variable="kafka_page_tls_source",
    allowed="development_ca or files, or a loopback address in kafka_page_host",
    fix="set kafka_page_tls_source, or kafka_page_host to 127.0.0.1",
)
def page_without_tls(inventory: Inventory) -> Iterator[Problem]:
    """Passwords for the page would travel in clear: no certificate, and not bound to loopback."""
    for page in _reachable(inventory):
        if not _unknown(page, "kafka_page_tls_source") and not page.text("kafka_page_tls_source"):
            yield Problem(page, "passwords for the page would travel in clear", "no certificate")


@rule(variable="kafka_page_users", allowed=_USERS, fix="correct the entry")
def page_user_unusable(inventory: Inventory) -> Iterator[Problem]:
    """A user of `kafka_page_users` has no usable name (RFC 7617, at most 100 characters), or an empty or well-known
    password."""
    for page in inventory.pages:
        users = page.get("kafka_page_users", {})
        for name, password in users.items() if isinstance(users, dict) else ():
            if not is_user(str(name)):
                yield Problem(page, "a user of the page has no usable name", repr(str(name)))
            elif password is UNDEFINED or (str(password or "") and str(password).lower() not in WEAK):
                continue
            else:
                found = "a well-known value" if password else "an empty value"
                yield Problem(page, f"the password of user {name} is not secret", found)


@rule(variable="kafka_page_port", fix="give the page a port of its own, or bind it to another address")
def page_port_taken(inventory: Inventory) -> Iterator[Problem]:
    """The port of the page is one that a node, a mirror or another page opens on the same machine."""
    opened = [(node.machine, one.port, one.host, node.name) for node in inventory.processes for one in node.ports()]
    for page in inventory.pages:
        port, host = as_int(page.get("kafka_page_port")), _host(page)
        takers = [
            name
            for machine, other, bound, name in opened
            if (machine, other) == (page.machine, port) and binds_meet([host, bound])
        ]
        if port and takers:
            yield Problem(page, f"{takers[0]} opens the port of the page on the same machine", port)
        opened.append((page.machine, port, host, page.name))


@rule(
    variable="kafka_page_clusters",
    allowed="names of clusters that have brokers",
    fix="correct the name, or leave the list empty to show all clusters",
)
def page_without_cluster(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_page_clusters` names no cluster of the inventory, or the inventory has none for the page to show."""
    known = [cluster.name for cluster in inventory.clusters() if cluster.brokers]
    for page in inventory.pages:
        for name in names(page.get("kafka_page_clusters")):
            if name not in known:
                yield Problem(page, "the inventory has no such cluster with brokers", name)
        if not known:
            yield Problem(
                page, "there is no cluster for the page to show", f"no host in kafka_brokers beside {PAGE_GROUP}"
            )


@rule(variable="kafka_page_password", fix="set it in the group_vars of the cluster, from the vault")
def page_without_password(inventory: Inventory) -> Iterator[Problem]:
    """The page shows a cluster whose clients log in, and `kafka_page_user` or `kafka_page_password` is empty there;
    with GSSAPI first in `kafka_sasl_mechanisms`, `kafka_page_user` or `kafka_page_keytab_file`."""
    return PAGE.find_empty(_asking(inventory))


@rule(
    variable="kafka_sasl_mechanisms",
    allowed=KNOWN_MECHANISMS,
    fix="put SCRAM-SHA-512 first in kafka_sasl_mechanisms, or with PLAIN list kafka_page_user in kafka_plain_users",
)
def page_mechanism(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_page_user` cannot log in by the first of `kafka_sasl_mechanisms`, which the page uses."""
    return PAGE.find_no_mechanism(_asking(inventory))


@rule(
    variable="kafka_kerberos",
    allowed="one realm, or krb5_file",
    fix="set kafka_kerberos.krb5_file of the page's host to a krb5.conf on its machine that has all these realms",
)
def page_realms(inventory: Inventory) -> Iterator[Problem]:
    """The clusters that a page shows are in several realms of Kerberos, and its host has no
    `kafka_kerberos.krb5_file`: the krb5.conf that is written has the KDCs of one realm."""
    known = realms(cluster for cluster, _listener in _asking(inventory))
    for page in inventory.pages:
        shown = names(page.get("kafka_page_clusters"))
        asked = dict.fromkeys(realm for name, realm in known.items() if not shown or name in shown)
        if len(asked) > 1 and not Kerberos.of(page.variables.get("kafka_kerberos")).krb5_file:
            yield Problem(page, "the page gets no ticket for brokers of several realms", " and ".join(asked))


@rule(
    variable="kafka_page_user",
    allowed=NO_SUPER_USER,
    fix="name a user of its own, who gets rights to see and none to change",
)
def page_is_super_user(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_page_user` is the name of a super user of a cluster that the page shows."""
    return PAGE.find_super_user(one for one in _shown(inventory) if _protocols(one) != {"PLAINTEXT"})


@rule(fix="remove the user from the list, or give the page another name")
def page_user_listed_differently(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_page_user` is also in `kafka_users` or `kafka_plain_users`, with another password or `state: absent`."""
    return PAGE.find_other_entries(cluster for cluster, _listener in _asking(inventory))


@rule(
    variable="kafka_page_alertmanager_url",
    allowed="http:// or https://, a host, a port and a path",
    fix="correct it; a login goes to kafka_page_alertmanager_user and kafka_page_alertmanager_password",
)
def page_alertmanager_url(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_page_alertmanager_url` is no address of an API, or has a login in it; or a login there has one half."""
    for page in inventory.pages:
        url = page.text("kafka_page_alertmanager_url")
        halves = [f"kafka_page_alertmanager_{name}" for name in ("user", "password")]
        empty = [name for name in halves if not _unknown(page, name) and not page.text(name)]
        if "@" in url:
            yield Problem(page, "the login belongs into variables of its own", "a login in the address")
        elif url and not _is_api(url):
            yield Problem(page, "this is no address of an Alertmanager", url)
        elif ":" in page.text(halves[0]):
            yield Problem(page, "a colon ends a user in HTTP basic (RFC 7617)", "a colon in it", variable=halves[0])
        elif url and len(empty) == 1 and not any(_unknown(page, name) for name in halves):
            yield Problem(page, "the page cannot log in at Alertmanager", "an empty value", variable=empty[0])


def _is_api(url: str) -> bool:
    """Return whether the page takes an address: else it would not start (page/alerts/settings.py)."""
    try:
        found = urlsplit(url)
        return bool(API.fullmatch(url) and url.isascii() and found.hostname and found.port != 0)
    except ValueError:
        return False


def _unknown(node: Node, variable: str) -> bool:
    return node.variables.get(variable) is UNDEFINED


def _host(page: Node) -> str:
    return str(plain_host(page.text("kafka_page_host")))


def _reachable(inventory: Inventory) -> Iterator[Node]:
    """The pages that listen elsewhere than on a loopback address; a name may lead anywhere, and elsewhere tomorrow."""
    for page in inventory.pages:
        host = _host(page)
        if not _unknown(page, "kafka_page_host") and not (is_address(host) and is_loopback(host)):
            yield page


def _shown(inventory: Inventory) -> list[Cluster]:
    """The clusters with brokers that a page of the inventory shows."""
    named = [names(page.get("kafka_page_clusters")) for page in inventory.pages]
    return [one for one in inventory.clusters() if one.brokers and any(not some or one.name in some for some in named)]


def _protocols(cluster: Cluster) -> set[str]:
    return {listener.protocol for listener in _for_clients(cluster)}


def _for_clients(cluster: Cluster) -> list[Listener]:
    return [listener for listener in cluster.brokers[0].listeners() if listener.purpose == "clients"]


def _asking(inventory: Inventory) -> Iterator[tuple[Cluster, Listener]]:
    """Yield the clusters that a page shows and whose clients log in with a password, each with the first listener."""
    for cluster in _shown(inventory):
        asking = [listener for listener in _for_clients(cluster) if listener.protocol in SASL_PROTOCOLS]
        if asking:
            yield cluster, asking[0]
