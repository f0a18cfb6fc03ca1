# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Properties as they are compared: secrets as digests, and values that are sets in any order."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from .properties import PropertiesError, is_secret, parse, value_text

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


#: By what runs, the file whose properties are compared one by one: those that the start record keeps as such. Every
#: other file is compared as it is written, as the record does by its digest: else a file could give a reason to restart
#: and never be replaced.
JUDGED_BY_PROPERTY = ("server.properties", "zoo.cfg", "mm2.properties", "consumer.properties")


def same_file(name: str, before: str | None, after: str | None) -> bool:
    """Tell whether two texts of a file differ in nothing but the order within values that are sets."""
    if before == after or before is None or after is None:
        return before == after
    if name.rpartition("/")[2] not in JUDGED_BY_PROPERTY:
        return False
    try:
        return forms(parse(before)) == forms(parse(after)) and _remarks(before) == _remarks(after)
    except PropertiesError:
        return False


def _remarks(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(("#", "!"))]


def declare(properties: Mapping[str, Any]) -> dict[str, str]:
    """Return properties as text with each secret replaced by "sha256:<16 hex digits>", to compare without showing.

    The digest covers the key too, so that one password used twice does not show as such, and is the same for all orders
    of a value that is a set. Values that already are such a digest stay: declaring twice changes nothing.
    """
    declared: dict[str, str] = {}
    for key, value in properties.items():
        text = value_text(str(key), value)
        declared[str(key)] = _digest(str(key), text) if is_secret(str(key)) else text
    return declared


def _digest(key: str, text: str) -> str:
    if re.match(r"sha256:[0-9a-f]{16}\Z", text):
        return text
    # surrogatepass: a lone surrogate is legal in a Java string and must not end in a traceback.
    data = (f"{key}\0{form(key, text)}").encode("utf-8", "surrogatepass")
    return "sha256:" + hashlib.sha256(data).hexdigest()[:16]
