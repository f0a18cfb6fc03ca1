"""Read the settings of the service from JSON. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._core.addresses import is_address, plain_host
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._core.service_settings import (
    CANARY_HOST,
    CANARY_NUMBERS,
    is_name,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from canary.ledger import Limits
from page.clusters import clusters_of
from page.core.checks import settings_of, short
from page.flows import flows_of

KNOWN = {"cluster", "host", "clusters", "routes", "flows", *CANARY_NUMBERS}
#: Ways at most: each has an account of every partition.
MOST_ROUTES = 500


@dataclass(frozen=True)
class Way:
    """A way as the service follows it: C(topic) of cluster C(source) becomes C(copy) at the target.

    C(path) is the whole way, C(writer) the flow that the events name, C(origin) the cluster that they were written
    into.
    """

    path: str
    origin: str
    writer: str
    source: str
    topic: str
    copy: str


@dataclass(frozen=True)
class Config:
    """Settings of the service; C(cluster) is the target that it stands next to, times are in seconds.

    C(flows) are watched for gaps. C(offset_flush): a mirror writes its positions down after so many seconds.
    """

    cluster: str
    clusters: Mapping[str, Connection]
    ways: tuple[Way, ...]
    limits: Limits
    host: str
    port: int
    interval: int
    flows: tuple[Flow, ...]
    offset_flush: int

    @property
    def own(self) -> list[Way]:
        """The ways whose events this service writes itself."""
        return [one for one in self.ways if one.writer == f"{one.source}->{self.cluster}"]


def config_of(text: str) -> Config:
    """Return the settings in a JSON text; RefusedError names every setting that is wrong, each with its fix."""
    given, numbers, wrong = settings_of(text, KNOWN, CANARY_NUMBERS, "cluster, clusters and routes")
    clusters, wrong_clusters = clusters_of(given.get("clusters"))
    cluster = given.get("cluster")
    if not isinstance(cluster, str) or cluster not in clusters:
        wrong.append(f"cluster is {short(cluster)}. Set the name of one of clusters, the target.")
    host = given.get("host", CANARY_HOST)
    if not isinstance(host, str) or not is_address(host):
        wrong.append(f"host is {short(host)}. Set an IP address of this machine, as 127.0.0.1.")
    ways, wrong_ways = _ways(given.get("routes"), clusters)
    flows, wrong_flows = _flows(given.get("flows", []), clusters, cluster)
    wrong += [*wrong_clusters, *wrong_ways, *wrong_flows]
    if wrong:
        raise RefusedError("configuration", wrong)
    limits = Limits(numbers["late_after"], numbers["missing_after"])
    port, interval, flush = (numbers[name] for name in ("port", "interval", "offset_flush"))
    return Config(str(cluster), clusters, ways, limits, plain_host(host), port, interval, flows, flush)


def _ways(given: object, clusters: Collection[str]) -> tuple[tuple[Way, ...], list[str]]:
    keys = Way.__dataclass_fields__.keys()
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_ROUTES:
        return (), [f"routes is no list of 1 to {MOST_ROUTES} ways. Correct it."]
    wrong: list[str] = []
    for at, one in enumerate(given):
        if not isinstance(one, dict) or one.keys() != keys or not all(_is_text(value) for value in one.values()):
            wrong.append(f"routes[{at}] is no object of texts with {', '.join(keys)}. Correct it.")
        elif one["source"] not in clusters:
            wrong.append(f"routes[{at}].source {short(one['source'])} is not in clusters. Add the cluster.")
    if wrong:
        return (), wrong
    ways: list[Mapping[str, Any]] = given
    return tuple(Way(**one) for one in ways), []


def _flows(given: object, clusters: Collection[str], cluster: object) -> tuple[tuple[Flow, ...], list[str]]:
    flows, wrong = flows_of(given, clusters)
    wrong = [one.replace("mirrors", "flows", 1) for one in wrong]
    for at, one in enumerate(flows):
        if one.target != cluster or one.source not in clusters:
            wrong.append(f"flows[{at}] {one.pair} does not lead from one of clusters to cluster. Remove it.")
    return flows, wrong


def _is_text(value: object) -> bool:
    return isinstance(value, str) and is_name(value, 600)
