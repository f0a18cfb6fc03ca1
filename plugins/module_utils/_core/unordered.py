# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Properties whose values Kafka takes as sets: which they are, and one form for all orders of a value.

Only lists that follow from the hosts or the users of an inventory are here, whose order nobody chose: AWX gives hosts
in another order each time. A list that a user writes and that may mean something by its order (cipher suites,
interceptors, listeners, data directories, of which the first has the metadata) compares as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

#: By key what parts its values. Clients shuffle their bootstrap servers, of a cluster or of its quorum (ClientUtils,
#: QuorumConfig); voters have their ids in them; the authorizer keeps super users in a set (StandardAuthorizer,
#: AclAuthorizer); overrides of connections and the clusters of a mirror become maps (SocketServer, MirrorMakerConfig).
_SEPARATORS: Mapping[str, str] = {
    "bootstrap.servers": ",",
    "clusters": ",",
    "controller.quorum.bootstrap.servers": ",",
    "controller.quorum.voters": ",",
    "super.users": ";",
}
_OVERRIDES = "max.connections.per.ip.overrides"
#: Of any cluster or flow of a mirror: ALIAS.bootstrap.servers.
_BOOTSTRAP = ".bootstrap.servers"
#: Its servers are shuffled too (StaticHostProvider); behind the last one comes once the path of the cluster.
_ZOOKEEPER = "zookeeper.connect"
#: The users that PLAIN knows on a listener, as options of its login module (PlainServerCallbackHandler).
_PLAIN = ".plain.sasl.jaas.config"
_USER = r' user_[^\s="]+="(?:\\.|[^"\\])*"'
_PLAIN_USERS = re.compile(rf"(?P<module>[^\s\"]+ required)(?P<users>(?:{_USER})+);")


def form(key: str, value: str) -> str:
    """Return a value in the form that all its orders share; any other value as it is."""
    if key == _ZOOKEEPER:
        servers, slash, path = value.partition("/")
        return f"{_sorted(servers, ',')}{slash}{path}"
    if key.endswith(_PLAIN):
        found = _PLAIN_USERS.fullmatch(value)
        return f"{found['module']}{''.join(sorted(re.findall(_USER, found['users'])))};" if found else value
    if key == _OVERRIDES:
        # An address that is there twice counts as it is there last: Kafka makes a map of them (SocketServer).
        return ",".join(sorted({part.rpartition(":")[0]: part for part in _parts(value, ",")}.values()))
    separator = "," if key.endswith(_BOOTSTRAP) else _SEPARATORS.get(key)
    return _sorted(value, separator) if separator else value


def same(key: str, before: str | None, after: str | None) -> bool:
    """Return whether two values of a property differ in nothing but the order of what is a set."""
    if before is None or after is None or before == after:
        return before == after
    return form(key, before) == form(key, after)


def forms(properties: Mapping[str, str]) -> dict[str, str]:
    """Return properties, each value in the form that all its orders share."""
    return {key: form(key, value) for key, value in properties.items()}


def _sorted(value: str, separator: str) -> str:
    return separator.join(sorted(_parts(value, separator)))


def _parts(value: str, separator: str) -> Iterable[str]:
    return (part.strip() for part in value.split(separator))
