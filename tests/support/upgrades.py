"""What tests of upgrade.yml call and ask."""

from __future__ import annotations

from tests.support.cluster import Cluster, Run
from tests.support.modules import run_module

UPGRADE = "playbooks/upgrade.yml"


def features(cluster: Cluster) -> dict[str, int]:
    """The features that a cluster has finalised, with their levels."""
    found = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": cluster.bootstrap_servers})
    return dict(found["features"])


def finalize(cluster: Cluster, *arguments: str, **variables: object) -> Run:
    """A run that raises the features, or shows what it would raise."""
    return cluster.playbook(UPGRADE, *arguments, kafka_upgrade="finalize", **variables)
