# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The listeners of a node that others installed, in the words of C(kafka_listeners).

What these words cannot say (a listener that is not advertised, several listeners of controllers) stays as native
properties, so that nothing changes for clients.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ...module_utils._configs.values import items_of
from ...module_utils._core.addresses import host_port, plain_host
from ...module_utils._core.properties import PropertiesError

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
#: What Kafka listens at where nothing is set (SocketServerConfigs.LISTENERS_DEFAULT).
_DEFAULT = "PLAINTEXT://:9092"
_ENDPOINT = re.compile(r"(?P<name>[\w.-]+)://(?P<host>\[[^\]]*\]|[^:\[\]]*):(?P<port>[0-9]{1,5})")
_VOTER = re.compile(r"(?:[0-9]+@)?(?P<host>\[[^\]]*\]|[^:\[\]@]+):(?P<port>[0-9]{1,5})")


@dataclass(frozen=True)
class Endpoint:
    """A listener as C(listeners) or C(advertised.listeners) names it; host has no brackets, empty for all addresses."""

    name: str
    host: str
    port: int

    @property
    def text(self) -> str:
        """Return it as Kafka writes it."""
        return f"{self.name}://{host_port(self.host, self.port)}"


@dataclass(frozen=True)
class Entry:
    """An entry of kafka_listeners. host, advertised_host -- None for a listener that the node does not open.

    advertised_port -- None where it is the port.
    """

    name: str
    port: int
    protocol: str
    purpose: str
    host: str | None = None
    advertised_host: str | None = None
    advertised_port: int | None = None


@dataclass(frozen=True)
class Listeners:
    """What a node listens at: entries, in their order; native -- the properties that these do not say."""

    entries: Sequence[Entry]
    native: Mapping[str, str] = field(default_factory=dict)


def listeners_of(properties: Mapping[str, str], roles: Sequence[str], name: str) -> Listeners:
    """Return the listeners of a node by its properties.

    roles -- broker, controller or both, as it runs; name -- what its machine calls itself, which Kafka advertises where
    nothing else is set (InetAddress.getCanonicalHostName). Raises PropertiesError for what Kafka would not take either.
    """
    opened = endpoints("listeners", properties.get("listeners") or _DEFAULT)
    of_controllers = words(properties, "controller.listener.names")
    inner = _inner(properties) if "broker" in roles else ""
    told, advertised = properties.get("advertised.listeners"), advertised_of(properties)
    protocol_of = _protocols(properties, of_controllers)
    has_clients = any(bound.name not in (*of_controllers, inner) for bound in opened)
    entries = [
        Entry(
            bound.name,
            bound.port,
            protocol_of(bound.name),
            _purpose(bound.name, of_controllers, inner, has_clients),
            bound.host,
            advertised.get(bound.name, bound).host or name,
            _other_port(bound, advertised.get(bound.name, bound)),
        )
        for bound in opened
    ]
    if of_controllers and "controller" not in roles:
        # A broker knows it by name and does not open it (KIP-631).
        first = of_controllers[0]
        entries.append(Entry(first, _quorum_port(properties), protocol_of(first), "controllers"))
    return Listeners(entries, {**_names(of_controllers), **_advertised(told, opened, advertised, of_controllers)})


def advertised_of(properties: Mapping[str, str]) -> dict[str, Endpoint]:
    """Return what a node advertises, by the name of the listener; nothing where it advertises what it opens."""
    told = properties.get("advertised.listeners")
    return {shown.name: shown for shown in endpoints("advertised.listeners", told)} if told else {}


def endpoints(key: str, text: str) -> list[Endpoint]:
    """Return the endpoints of a property, in their order."""
    listed = []
    for word in items_of(text):
        match = _ENDPOINT.fullmatch(word)
        if match is None:
            raise PropertiesError(key, f"{word} is no listener (NAME://host:port)")
        listed.append(Endpoint(match["name"], plain_host(match["host"]), int(match["port"])))
    return listed


def words(properties: Mapping[str, str], key: str) -> list[str]:
    """Return the words of a property that is a list."""
    return items_of(properties.get(key))


def _inner(properties: Mapping[str, str]) -> str:
    """Return the listener between brokers: by its name, else the one that is called as its protocol is."""
    named = properties.get("inter.broker.listener.name", "").strip()
    return named or properties.get("security.inter.broker.protocol", "").strip() or "PLAINTEXT"


def _protocols(properties: Mapping[str, str], of_controllers: Sequence[str]) -> Callable[[str], str]:
    """Return what gives a listener's protocol: by the map, else it is called as its protocol is.

    Without a map a listener of controllers has none (KafkaConfig.effectiveListenerSecurityProtocolMap).
    """
    key = "listener.security.protocol.map"
    pairs = dict(part.split(":", 1) for part in words(properties, key) if ":" in part)
    given = {name.strip().upper(): protocol.strip().upper() for name, protocol in pairs.items()}

    def protocol(name: str) -> str:
        """Return the protocol of a listener."""
        default = "PLAINTEXT" if name in of_controllers and not given else name.upper()
        mapped = given.get(name.upper(), default)
        if mapped not in PROTOCOLS:
            raise PropertiesError(key, f"it has no protocol for listener {name}")
        return mapped

    return protocol


def _purpose(name: str, of_controllers: Sequence[str], inner: str, has_clients: bool) -> str:
    """Return who connects; the one listener of a broker serves clients, and other brokers with it."""
    if name in of_controllers:
        return "controllers"
    return "brokers" if name == inner and has_clients else "clients"


def _quorum_port(properties: Mapping[str, str]) -> int:
    """Return the port at which controllers are reached, by the first one that the node names."""
    for key in ("controller.quorum.bootstrap.servers", "controller.quorum.voters"):
        for word in words(properties, key):
            match = _VOTER.fullmatch(word)
            if match is None:
                raise PropertiesError(key, f"{word} is no controller (host:port)")
            return int(match["port"])
    raise PropertiesError("controller.quorum.bootstrap.servers", "no controller is named")


def _other_port(bound: Endpoint, shown: Endpoint) -> int | None:
    return None if shown.port == bound.port else shown.port


def _names(of_controllers: Sequence[str]) -> dict[str, str]:
    """Return the listeners of controllers where they are several: kafka_listeners writes the first alone."""
    return {"controller.listener.names": ",".join(of_controllers)} if len(of_controllers) > 1 else {}


def _advertised(
    told: str | None, opened: Sequence[Endpoint], advertised: Mapping[str, Endpoint], of_controllers: Sequence[str]
) -> dict[str, str]:
    """Return what is advertised where it is not each opened listener."""
    if not told:
        return {}
    names = {bound.name for bound in opened}
    whole = names.issuperset(advertised) and names.issubset([*advertised, *of_controllers])
    return {} if whole else {"advertised.listeners": ",".join(shown.text for shown in advertised.values())}
