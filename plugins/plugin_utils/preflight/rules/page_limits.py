# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on what the page takes at most (_core/service_settings.py): else it would not start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ....module_utils._core import service_settings as taken
from ....module_utils._core.addresses import is_network
from ....module_utils._core.names import capped
from ...inventory.model import Cluster, Inventory, Node
from ...inventory.variables import UNDEFINED, names
from ...render.page import shown_clusters
from ..rule import Problem, rule

#: Entries of each list of the page at most.
MOST_OF = {
    "kafka_page_trusted_proxies": taken.MOST,
    **{f"kafka_page_records_{name}": most for name, most in taken.RECORDS.items()},
}


@rule(fix="correct the variable; an empty list stands for none")
def page_list_unusable(inventory: Inventory) -> Iterator[Problem]:
    """A list of names of the page is no list, or `kafka_page_users` is no dict: it would be taken for an empty one."""
    for page in inventory.pages:
        for name in ("kafka_page_clusters", *MOST_OF):
            value = page.get(name, [])
            if not isinstance(value, str | list | tuple):
                what = "this is no list of names"
                yield Problem(page, what, _kind(value), "a list of names, or text with commas between them", None, name)
        users = page.get("kafka_page_users", {})
        if not isinstance(users, Mapping):
            what = "this is no dict of users"
            yield Problem(page, what, _kind(users), "passwords by name of the user", None, "kafka_page_users")


@rule(fix="shorten it; a second host in the group kafka_page may show other clusters, with users of its own")
def page_list_too_long(inventory: Inventory) -> Iterator[Problem]:
    """The page has more users, clusters, trusted proxies, readers of records, topics or masked fields than it takes."""
    for page in inventory.pages:
        users = page.get("kafka_page_users", {})
        counts = {
            "kafka_page_users": (len(users) if isinstance(users, Mapping) else 0, taken.MOST),
            "kafka_page_clusters": (len(_shown(inventory, page)), taken.MOST),
            **{name: (len(names(page.get(name))), most) for name, most in MOST_OF.items()},
        }
        for name, (count, most) in counts.items():
            if count > most:
                what = "the page takes fewer of these"
                yield Problem(page, what, f"{count} of them", f"at most {most}", variable=name)


@rule(
    variable="kafka_page_reports",
    allowed="the absolute path of a directory, or an empty text",
    fix="write the whole path, or leave it empty to show no reports",
)
def page_reports_unusable(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_page_reports` is no absolute path."""
    for page in inventory.pages:
        path = page.text("kafka_page_reports")
        if not taken.is_directory_of_reports(path):
            yield Problem(page, "this is no absolute path", repr(path))


@rule(
    variable="kafka_page_host",
    allowed="an address or a name of the host, without a port",
    fix="set the address that the page binds, such as 127.0.0.1",
)
def page_host_unusable(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_page_host` is no address and no name."""
    for page in inventory.pages:
        host = page.variables.get("kafka_page_host")
        if host is not UNDEFINED and host is not None and not taken.is_bound_host(str(host)):
            yield Problem(page, "this is no address and no name", repr(str(host)))


@rule(
    variable="kafka_page_trusted_proxies",
    allowed="addresses, and networks with at least one bit, such as 192.0.2.1 and 192.0.2.0/24",
    fix="correct the entry; with all addresses each client could name another address as its own",
)
def page_proxy_unusable(inventory: Inventory) -> Iterator[Problem]:
    """An entry of `kafka_page_trusted_proxies` is no address and no network, or the network of all addresses."""
    for page in inventory.pages:
        for proxy in names(page.get("kafka_page_trusted_proxies")):
            if not is_network(proxy):
                yield Problem(page, "this is no address and no network of proxies", repr(proxy))


@rule(
    variable="kafka_groups_watched",
    allowed=f"at most {taken.MOST_GROUPS} names of groups, each once",
    fix="correct the list of this cluster",
)
def page_groups_unusable(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_groups_watched` of a cluster that a page shows is no list, too long, or has an empty name or one twice."""
    for cluster in {one.name: one for page in inventory.pages for one in _shown(inventory, page)}.values():
        value = cluster.brokers[0].get("kafka_groups_watched", [])
        if not isinstance(value, list | tuple):
            yield Problem(cluster, "this is no list of groups", _kind(value))
            continue
        twice = [name for name, count in Counter(map(str, value)).items() if count > 1]
        if len(value) > taken.MOST_GROUPS:
            yield Problem(cluster, "the page takes fewer groups", f"{len(value)} of them")
        elif twice:
            yield Problem(cluster, "a group stands there twice", capped(twice, 5))
        elif "" in map(str, value):
            yield Problem(cluster, "a group has no name", "an empty name")


def _shown(inventory: Inventory, page: Node) -> list[Cluster]:
    """Return the clusters that one page shows."""
    return shown_clusters(inventory, names(page.get("kafka_page_clusters")))


def _kind(value: Any) -> str:
    """Return what a value is, for a message that must not repeat it: it may be a password."""
    return f"a value of the type {type(value).__name__}"
