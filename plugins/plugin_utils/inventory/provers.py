# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Who wants a proof while nodes restart (docs/prove.md): one rule for preflight, roles and the plan of an upgrade."""

from __future__ import annotations

from collections.abc import Iterable

from .model import Node
from .variables import as_bool


def provers(nodes: Iterable[Node]) -> list[Node]:
    """Return the brokers of a cluster that want a proof; what controllers say of it counts for nothing.

    The cluster is proven where there is one. How it is done, the first of them says.
    """
    return [node for node in nodes if node.broker and as_bool(node.get("kafka_prove", False))]
