# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on canaries of mirrors: how they log in, where they listen, and what they can follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ....module_utils._core.addresses import is_address, is_loopback, plain_host
from ....module_utils._mirror.canary import Route, routes
from ...inventory.model import Cluster, Inventory, Listener, Node
from ...inventory.variables import UNDEFINED, as_bool, as_int
from ...render.security import SASL_PROTOCOLS
from ...specs import role_options
from ..mirror_flows import flows, kafka_clusters, mirrors_of
from ..rule import WARNING, Problem, rule
from ..service_logins import CANARY, KNOWN_MECHANISMS, MIRRORS, NO_SUPER_USER, PAGE
from .listeners import binds_meet
from .mirrors import listener_of

_SWITCH = "mirror_maker_canary"


@rule(fix="set the variable in the group_vars of the cluster, a password from the vault")
def no_canary_login(inventory: Inventory) -> Iterator[Problem]:
    """A listener that a canary connects to needs a login, and `mirror_canary_user` or `mirror_canary_password` is
    empty; with GSSAPI first in `kafka_sasl_mechanisms`, `mirror_canary_user` or `mirror_canary_keytab_file`."""
    return CANARY.find_empty((cluster, way) for cluster, way in _ends(inventory) if way.protocol in SASL_PROTOCOLS)


@rule(
    variable="mirror_canary_user",
    allowed=NO_SUPER_USER,
    fix="name a user of their own, who gets the ACLs that the events take",
)
def canary_is_super_user(inventory: Inventory) -> Iterator[Problem]:
    """`mirror_canary_user` is the name of a super user."""
    return CANARY.find_super_user({cluster.name: cluster for cluster, _way in _ends(inventory)}.values())


@rule(fix="remove the user there, give it the password in mirror_canary_password, or give canaries another name")
def canary_user_listed_differently(inventory: Inventory) -> Iterator[Problem]:
    """`mirror_canary_user` is also in `kafka_users` or `kafka_plain_users`, or is `mirror_user` or `kafka_page_user`,
    with another password or `state: absent`."""
    return CANARY.find_other_entries((cluster for cluster, _way in _asked(inventory)), [MIRRORS, PAGE])


@rule(
    variable="kafka_sasl_mechanisms",
    allowed=KNOWN_MECHANISMS,
    fix="put SCRAM-SHA-512 first in kafka_sasl_mechanisms, or with PLAIN list mirror_canary_user in kafka_plain_users",
)
def canary_mechanism(inventory: Inventory) -> Iterator[Problem]:
    """`mirror_canary_user` cannot log in by the first of `kafka_sasl_mechanisms`, which canaries use."""
    return CANARY.find_no_mechanism(_asked(inventory))


@rule(
    variable=_SWITCH,
    allowed="a listener without a login, or with one by user and password",
    fix="give mirrors a listener of protocol SASL_SSL (mirror_listener), or set mirror_maker_canary to false",
)
def canary_without_certificate(inventory: Inventory) -> Iterator[Problem]:
    """A listener that a canary connects to asks for a certificate, and canaries have none."""
    for cluster, way in _ends(inventory):
        if way.protocol == "SSL":
            what = f"the canary cannot log in at listener {way.name}, which asks for a certificate"
            yield Problem(cluster, what, "protocol SSL")


@rule(variable="mirror_maker_canary_host", allowed="an IP address of the machine", fix="set 127.0.0.1, or another one")
def canary_address(inventory: Inventory) -> Iterator[Problem]:
    """`mirror_maker_canary_host` is no IP address."""
    for mirror in _wanting(inventory):
        host = mirror.text("mirror_maker_canary_host")
        if mirror.variables.get("mirror_maker_canary_host") is not UNDEFINED and not is_address(host):
            yield Problem(mirror, "the canary cannot listen there", host or "an empty value")


@rule(
    variable="mirror_maker_canary_host",
    allowed="a loopback address",
    fix="set it to 127.0.0.1 where Prometheus runs there, or let only Prometheus connect to the port",
    level=WARNING,
)
def canary_open(inventory: Inventory) -> Iterator[Problem]:
    """`mirror_maker_canary_host` is no loopback address: names of clusters and how mirrors fare can be read without a
    login."""
    for mirror in _wanting(inventory):
        host = mirror.text("mirror_maker_canary_host")
        if is_address(host) and not is_loopback(host):
            yield Problem(mirror, "the canary answers others without a login", host)


@rule(
    variable="mirror_maker_canary_port",
    allowed="a port of the machine that no other process has",
    fix="give the canary a port of its own, or bind it to another address",
)
def canary_port_taken(inventory: Inventory) -> Iterator[Problem]:
    """The port of a canary is one that a node, a mirror, a page or another canary opens on the same machine."""
    opened = [(node.machine, one.port, one.host, node.name) for node in inventory.processes for one in node.ports()]
    opened += [
        (page.machine, as_int(page.get("kafka_page_port")), plain_host(page.text("kafka_page_host")), page.name)
        for page in inventory.pages
    ]
    for mirror, port, host in canary_ports(inventory):
        takers = [
            name
            for machine, other, bound, name in opened
            if (machine, other) == (mirror.machine, port) and binds_meet([host, bound])
        ]
        if takers:
            yield Problem(mirror, f"{takers[0]} opens the port of the canary on the same machine", port)
        opened.append((mirror.machine, port, host, f"the canary of {mirror.name}"))


@rule(
    variable="mirror_maker_canary_missing_seconds",
    allowed="more than mirror_maker_canary_late_seconds",
    fix="raise it; an event is late before it is missing",
)
def canary_limits(inventory: Inventory) -> Iterator[Problem]:
    """`mirror_maker_canary_missing_seconds` is no more than `mirror_maker_canary_late_seconds`."""
    # A host does not have the defaults of the role among its variables here.
    variables = [f"mirror_maker_canary_{name}_seconds" for name in ("late", "missing")]
    defaults = {name: role_options("mirror_maker")[name]["default"] for name in variables}
    for mirror in _wanting(inventory):
        late, missing = (mirror.get(name, default) for name, default in defaults.items())
        if isinstance(late, int) and isinstance(missing, int) and missing <= late:
            yield Problem(mirror, "events would be missing before they are late", f"{missing}, late after {late}")


@rule(
    variable=_SWITCH,
    allowed="a flow of MirrorMaker 2 whose topics_exclude leaves streamops-canary.* alone",
    fix="correct topics_exclude of the flow, or set mirror_maker_canary to false",
    level=WARNING,
)
def canary_follows_nothing(inventory: Inventory) -> Iterator[Problem]:
    """A canary is wanted next to a target, and it can follow a flow into it not at all."""
    followed = {route.last.pair for route in _routes(inventory)}
    wanted = {mirror.cluster for mirror in _wanting(inventory)}
    for flow in flows(inventory):
        if flow.target in wanted and flow.pair not in followed:
            mirrors = [mirror for mirror in mirrors_of(inventory, flow.target) if as_bool(mirror.get(_SWITCH))]
            yield Problem(mirrors, f"no event goes through {flow.pair}", f"engine {flow.engine}, topics_exclude "
                          f"{', '.join(flow.topics_exclude) or 'empty'}")  # fmt: skip


def _wanting(inventory: Inventory) -> list[Node]:
    return [mirror for mirror in inventory.mirrors if as_bool(mirror.get(_SWITCH))]


def canaries(inventory: Inventory) -> list[Node]:
    """The mirrors that run a canary: the first of each target that wants one and has a flow to follow."""
    followed = {route.last.target for route in _routes(inventory)}
    first: dict[str, Node] = {}
    for mirror in sorted(_wanting(inventory), key=lambda one: one.name):
        if mirror.cluster in followed:
            first.setdefault(mirror.cluster, mirror)
    return list(first.values())


def canary_ports(inventory: Inventory) -> list[tuple[Node, int, str]]:
    """The mirrors that run a canary, each with the port and address of that; without those whose port is unclear."""
    found = ((one, as_int(one.get("mirror_maker_canary_port"))) for one in canaries(inventory))
    return [(one, port, plain_host(one.text("mirror_maker_canary_host"))) for one, port in found if port]


def _routes(inventory: Inventory) -> list[Route]:
    return routes(flows(inventory), {mirror.cluster for mirror in _wanting(inventory)})


def _asked(inventory: Inventory) -> Iterable[tuple[Cluster, Listener]]:
    """Return the clusters that canaries log in at with a password, each once, with the listener."""
    return {
        cluster.name: (cluster, way) for cluster, way in _ends(inventory) if way.protocol in SASL_PROTOCOLS
    }.values()


def _ends(inventory: Inventory) -> Iterator[tuple[Cluster, Listener]]:
    """Yield the clusters that canaries connect to, with the listener: of a source that for mirrors."""
    known, seen = kafka_clusters(inventory), set()
    for flow in dict.fromkeys(route.last for route in _routes(inventory)):
        for name in (flow.source, flow.target):
            if name not in known:
                continue
            node = known[name].brokers[0]
            clients = (one for one in node.listeners() if one.purpose == "clients")
            way = listener_of(node) if name == flow.source else next(clients, None)
            if way is not None and (name, way.name) not in seen:
                seen.add((name, way.name))
                yield known[name], way
