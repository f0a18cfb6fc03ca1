# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the metrics of nodes: who may read them, and the agent that serves them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....module_utils._core.addresses import is_loopback
from ...inventory.model import Inventory, Listener, Node
from ..rule import WARNING, Problem, rule

#: Another exporter in the same JVM: both answer 500, since they share the registry of the Prometheus library.
OTHER_AGENT = re.compile(r"-javaagent:\S*(jmx_prometheus|jmx-exporter)", re.IGNORECASE)
OTHER_REPORTER = re.compile(r"io\.strimzi\.kafka\.metrics\.\S*", re.IGNORECASE)


def _served(inventory: Inventory) -> Iterator[tuple[Node, Listener]]:
    """The nodes and mirrors that serve metrics, each with the port."""
    for node in inventory.processes:
        listener = node.metrics()
        if listener:
            yield node, listener


@rule(
    variable="kafka_metrics_password",
    allowed="a password, or a loopback address in kafka_metrics_host",
    fix="set kafka_metrics_password (from the vault), or kafka_metrics_host to 127.0.0.1",
    acceptable=True,
)
def metrics_without_login(inventory: Inventory) -> Iterator[Problem]:
    """The metrics of a node are open to everyone who reaches its port: no password, and not bound to loopback."""
    for node, listener in _served(inventory):
        if not node.text("kafka_metrics_password") and not is_loopback(listener.host):
            yield Problem(node, "everyone who reaches the port can read the metrics", "no password")


@rule(
    level=WARNING,
    variable="kafka_metrics_password",
    allowed="TLS on the nodes, or a loopback address in kafka_metrics_host",
    fix="set kafka_tls_source, or let Prometheus reach the port by a private network",
)
def metrics_login_readable(inventory: Inventory) -> Iterator[Problem]:
    """The password for the metrics travels in clear, since the node has no certificate."""
    for node, listener in _served(inventory):
        if node.text("kafka_metrics_password") and listener.protocol != "SSL" and not is_loopback(listener.host):
            yield Problem(node, "the password for the metrics travels in clear", "no certificates")


@rule(variable="kafka_metrics_user", allowed="a name without a colon", fix="choose another name")
def metrics_user(inventory: Inventory) -> Iterator[Problem]:
    """Who may read the metrics has no name, or one with a colon, where HTTP's basic login ends it (RFC 7617)."""
    for node, _listener in _served(inventory):
        user = node.text("kafka_metrics_user")
        if node.text("kafka_metrics_password") and (not user or ":" in user):
            yield Problem(node, "the user of the metrics has no usable name", repr(user))


@rule(
    variable="kafka_metrics_agent_sha256",
    allowed="64 hexadecimal digits",
    fix="write the SHA-256 of the jar that kafka_metrics_agent_src names (sha256sum)",
)
def metrics_agent_unpinned(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_metrics_agent_src` names a jar without its SHA-256, so it could be any."""
    for node, _listener in _served(inventory):
        sha256 = node.text("kafka_metrics_agent_sha256")
        if node.text("kafka_metrics_agent_src") and not re.fullmatch("[0-9a-fA-F]{64}", sha256):
            yield Problem(node, "the jar of the metrics is not pinned", sha256 or "no SHA-256")


@rule(
    variable="kafka_metrics_agent_src",
    allowed="a file of the control node or an HTTP(S) URL",
    fix="name the jar of the agent and its SHA-256 (docs/metrics.md), or install from Maven",
)
def metrics_agent_without_maven(inventory: Inventory) -> Iterator[Problem]:
    """The release does not come from Maven (`kafka_install_source`), and no jar of the metrics is named."""
    for node, _listener in _served(inventory):
        source = node.text("kafka_install_source")
        if source == "archive" and not node.text("kafka_metrics_agent_src"):
            yield Problem(node, "nothing says where the agent of the metrics comes from", "no kafka_metrics_agent_src")


@rule(fix="take it out, or set kafka_metrics_enabled to false")
def metrics_twice(inventory: Inventory) -> Iterator[Problem]:
    """Another exporter of Prometheus runs in the same process, so both answer with an error (duplicate metric)."""
    for node, _listener in _served(inventory):
        options = node.get("kafka_jvm_options", [])
        for option in options if isinstance(options, (list, tuple)) else ():
            if OTHER_AGENT.search(str(option)):
                yield Problem(node, "a second agent serves metrics", option, variable="kafka_jvm_options")
        reporters = str(node.value("metric.reporters") or "")
        if OTHER_REPORTER.search(reporters):
            yield Problem(node, "a reporter serves metrics beside the agent", reporters, variable="metric.reporters")
