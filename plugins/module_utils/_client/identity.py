# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Who answers on a connection: the id of the node and the id of its cluster, as far as who asks may know.

Any broker answers ApiVersions, so that proves nothing about an address. The configuration of a broker is described by
this broker alone (KIP-226; since KIP-919 by a controller too): another one refuses, and its message has its own id.
That takes the right DescribeConfigs on the cluster. DescribeCluster (KIP-700) gives the id of the cluster, on listeners
for brokers and clients to everybody.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .wire import Channel

#: The stage of a listener at whose address another node answers: waiting does not mend it.
IDENTITY = "identity"
#: Kafka's numbers of the requests (ApiKeys) with the oldest version that brokers from 3.9 on and controllers answer.
_DESCRIBE_CONFIGS, _DESCRIBE_CLUSTER = (32, 1), (60, 1)
#: ConfigResource.Type.BROKER, and Kafka's errors CLUSTER_AUTHORIZATION_FAILED and INVALID_REQUEST (Errors).
_BROKER, _NOT_ALLOWED, _INVALID_REQUEST = 4, 31, 42
#: EndpointType of DescribeCluster (KIP-919).
_BROKERS, _CONTROLLERS = 1, 2
#: A configuration that every node has; the id of the node itself is not in what ZooKeeper's brokers describe.
_ANY_NAME = "log.dirs"
#: What a node says that is asked about another one (ConfigHelper of Kafka 3.9 to 4.4).
_ITS_ID = re.compile(r"expected (\d+)")


@dataclass(frozen=True)
class Owner:
    """The node that a listener belongs to, C(cluster_id) empty where it is not known."""

    node_id: int
    cluster_id: str = ""
    is_controller: bool = False


@dataclass(frozen=True)
class Identity:
    """Who answered: C(is_owner) whether it is the node that was asked for, None where who asks may not know.

    C(node_id) is its id and C(cluster_id) that of its cluster, None and empty where they are not known; C(why): why
    C(is_owner) is not known.
    """

    is_owner: bool | None = None
    node_id: int | None = None
    cluster_id: str = ""
    why: str = ""


def identify(channel: Channel, owner: Owner) -> Identity:
    """Ask over a channel, after its login, whether its other side is this node.

    OSError, ValueError or struct.error where it gives no answer: a listener ends a connection that asks for what it
    does not offer.
    """
    cluster_id = _cluster_id(channel.ask(_DESCRIBE_CLUSTER, _cluster_request(owner.is_controller)))
    return _of_node(channel.ask(_DESCRIBE_CONFIGS, _configs_request(owner.node_id)), owner.node_id, cluster_id)


def stranger(owner: Owner, answered: Identity) -> str:
    """Return who answers instead of the owner, empty where the owner answers or nothing tells who does."""
    other_cluster = bool(owner.cluster_id and answered.cluster_id and answered.cluster_id != owner.cluster_id)
    if not other_cluster and answered.is_owner is not False:
        return ""
    kind = "controller" if owner.is_controller else "broker"
    node = f"{kind} {answered.node_id}" if answered.node_id is not None else f"another {kind}"
    cluster = f" of another cluster ({answered.cluster_id}, not {owner.cluster_id})" if other_cluster else ""
    return f"{node}{cluster} answers there, not {kind} {owner.node_id}"


# -- requests and answers as Kafka's messages have them ------------------------------------------------------------


def _configs_request(node_id: int) -> bytes:
    name, wanted = str(node_id).encode(), _ANY_NAME.encode()
    resource = struct.pack(">bh", _BROKER, len(name)) + name
    return struct.pack(">i", 1) + resource + struct.pack(">ih", 1, len(wanted)) + wanted + b"\0"


def _of_node(answer: bytes, node_id: int, cluster_id: str) -> Identity:
    """Read the answer to DescribeConfigs: the time that was throttled, the number of results, error and message."""
    _throttled, results, error, length = struct.unpack_from(">iihh", answer)
    message = answer[12 : 12 + max(length, 0)].decode(errors="replace")
    if results != 1:
        raise ValueError(f"DescribeConfigs has {results} results")
    if not error:
        return Identity(True, node_id, cluster_id)
    if error == _INVALID_REQUEST:
        its_id = _ITS_ID.search(message)
        return Identity(False, int(its_id.group(1)) if its_id else None, cluster_id)
    if error == _NOT_ALLOWED:
        return Identity(None, None, cluster_id, "who asks lacks the right DescribeConfigs on the cluster")
    return Identity(None, None, cluster_id, f"the request DescribeConfigs ended with Kafka's error {error}")


def _cluster_request(is_controller: bool) -> bytes:
    """Return the tags of the header, no operations, the endpoints, the tags: a message with flexible fields."""
    return struct.pack(">bbbb", 0, 0, _CONTROLLERS if is_controller else _BROKERS, 0)


def _cluster_id(answer: bytes) -> str:
    """Read the answer to DescribeCluster: tags, throttled time, error, message, kind of endpoints, id of the cluster.

    Empty where it is an error, as on a controller for who lacks the right Alter on the cluster.
    """
    _tags, _throttled, error = struct.unpack_from(">bih", answer)
    if error:
        return ""
    _message, position = _compact(answer, 7)
    return _compact(answer, position + 1)[0]


def _compact(answer: bytes, position: int) -> tuple[str, int]:
    """Return a compact string and where it ends: its length and one, as a varint (KIP-482), then its bytes."""
    length, shift = 0, 0
    while True:
        byte = answer[position]
        length |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            break
    end = position + max(length - 1, 0)
    return answer[position:end].decode(errors="replace"), end
