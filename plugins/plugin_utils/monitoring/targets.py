# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The scrape configuration of Prometheus from what is to be read, and what it says about its targets, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...module_utils._core.names import capped

#: What the alerts and dashboards know as label job, by what serves the metrics.
JOBS = ("kafka", "zookeeper", "mirror", "page", "canary", "node", "blackbox")
#: Those whose series say themselves which cluster they are about.
OWN_CLUSTER = ("page", "canary")
#: What begins the names of our scrape configurations, so that none of them meets one that Prometheus has already.
PREFIX = "streamops"
KEYS = ("job", "node", "cluster", "address")
_OPTIONAL = ("node_id", "tls", "user", "password_file", "ca_file", "probe")


def scrape_configs(targets: Any) -> dict[str, Any]:
    """Return the content of a file of scrape configurations, with the one key `scrape_configs`.

    Args:
        targets: What is to be read, a mapping each. `job`, one of JOBS; `node`, the host's name; `cluster`, not of a
            page or a canary; `address`, host:port, empty where nothing is served. `node_id` is the node's number in its
            cluster. `tls` with `ca_file`, and `user` with `password_file`, say how to read it; both paths are those of
            the machine of Prometheus. `probe` has the `address` of a blackbox_exporter, which reads the certificate at
            the target, and its `module`.

    Raises:
        ValueError: A target cannot be; all mistakes are named, each with its fix.
    """
    if (
        not isinstance(targets, Sequence)
        or isinstance(targets, str)
        or not all(isinstance(t, Mapping) for t in targets)
    ):
        raise ValueError(f"{targets!r} is not a list of targets, each a dictionary with {', '.join(KEYS)}")
    if not targets:
        raise ValueError("there is nothing to read; fix: put hosts into the groups of this collection")
    mistakes = [*_unusable(targets), *_unserved(targets), *_twice(targets)]
    if mistakes:
        raise ValueError("; ".join(mistakes) + ". No file was written.")
    grouped: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for target in sorted(targets, key=lambda one: JOBS.index(one["job"])):
        grouped.setdefault(_alike(target), []).append(target)
    names: dict[str, int] = {}
    return {"scrape_configs": [_scrape(_name(some[0], names), some) for some in grouped.values()]}


def _alike(target: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what targets of one scrape configuration have alike; Prometheus knows one way to read for each."""
    probe = target.get("probe") or {}
    how = [target.get(key) or "" for key in ("tls", "user", "password_file", "ca_file")]
    return (target["job"], _cluster(target), *how, *probe.values())


def _cluster(target: Mapping[str, Any]) -> str:
    return "" if target["job"] in OWN_CLUSTER else str(target["cluster"])


def _name(target: Mapping[str, Any], taken: dict[str, int]) -> str:
    """Return the name of a scrape configuration, numbered from the second on where nodes of a cluster differ."""
    name = "-".join(part for part in (PREFIX, target["job"], _cluster(target)) if part)
    taken[name] = taken.get(name, 0) + 1
    return name if taken[name] == 1 else f"{name}-{taken[name]}"


def _scrape(name: str, targets: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    first = targets[0]
    written: dict[str, Any] = {"job_name": name}
    if first["job"] in OWN_CLUSTER:
        written["honor_labels"] = True
    if first.get("probe"):
        written |= {"metrics_path": "/probe", "params": {"module": [first["probe"]["module"]]}}
    elif first.get("tls"):
        written |= {"scheme": "https", "tls_config": {"ca_file": first["ca_file"]}}
    if first.get("user") and not first.get("probe"):
        written["basic_auth"] = {"username": first["user"], "password_file": first["password_file"]}
    written["static_configs"] = [{"targets": [one["address"]], "labels": _labels(one)} for one in targets]
    if first.get("probe"):
        # The exporter is asked about the target, whose address stays the instance.
        written["relabel_configs"] = [
            {"source_labels": ["__address__"], "target_label": "__param_target"},
            {"source_labels": ["__address__"], "target_label": "instance"},
            {"target_label": "__address__", "replacement": first["probe"]["address"]},
        ]
    return written


def _labels(target: Mapping[str, Any]) -> dict[str, str]:
    """Return the labels of a target: job stands here, since Prometheus takes the name of the configuration else."""
    cluster = _cluster(target)
    return {"job": target["job"], **({"cluster": cluster} if cluster else {}), "node": str(target["node"])}


def _unusable(targets: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what is wrong with the form of targets."""
    for one in targets:
        name = one.get("node") or repr(dict(one))
        unknown = [str(key) for key in one if key not in (*KEYS, *_OPTIONAL)]
        if unknown:
            yield f"{name}: a target has no {', '.join(unknown)}; it has {', '.join((*KEYS, *_OPTIONAL))}"
        if one.get("job") not in JOBS:
            yield f"{name}: job is {one.get('job')!r}; fix: one of {', '.join(JOBS)}"
        elif one["job"] not in OWN_CLUSTER and not one.get("cluster"):
            yield f"{name} is in no cluster, and every alert names one; fix: set kafka_cluster_name"
        if not one.get("node"):
            yield f"{name}: a target has no node; fix: the name of the host"
        for key, file in (("tls", "ca_file"), ("user", "password_file")):
            if one.get(key) and not one.get(file):
                yield f"{name}: {key} is given without {file}; fix: its path on the machine of Prometheus"
        if one.get("probe") and not (one["probe"].get("address") and one["probe"].get("module")):
            yield f"{name}: a probe needs the address of blackbox_exporter and a module of its configuration"


def _unserved(targets: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    silent = [str(one.get("node")) for one in targets if not one.get("address")]
    if silent:
        yield (
            f"no metrics are served by {', '.join(silent)}, so alerts would never fire for them; fix: set "
            "kafka_metrics_enabled there and run site.yml"
        )


def _twice(targets: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what two targets cannot share: a number within a cluster, an address that one process listens at."""
    numbers: dict[tuple[Any, ...], str] = {}
    addresses: dict[tuple[Any, ...], str] = {}
    for one in targets:
        node, job = str(one.get("node")), one.get("job")
        if one.get("node_id") is not None and job in ("kafka", "zookeeper"):
            other = numbers.setdefault((job, one.get("cluster"), one["node_id"]), node)
            if other != node:
                yield (
                    f"{other} and {node} are both number {one['node_id']} of cluster {one.get('cluster')}: several "
                    "clusters have this name, and their alerts would be mixed; fix: give each a kafka_cluster_name"
                )
        if one.get("address"):
            # A machine with nodes of two clusters is read once for each.
            place = (one["address"], job, one.get("cluster")) if job in ("node", "blackbox") else (one["address"],)
            other = addresses.setdefault(place, node)
            if other != node:
                yield (
                    f"{other} and {node} are both read at {one['address']}; fix: give each node an address or port of "
                    "its own (kafka_metrics_port, kafka_metrics_host, kafka_monitoring_address)"
                )


_SHOWN = 10


def answers(targets: Sequence[Mapping[str, Any]]) -> str:
    """Return how many targets of the inventory answer, and which do not, each with what Prometheus says of it.

    What Prometheus reads of itself and of Alertmanager is none of them.

    Args:
        targets: C(activeTargets) of GET /api/v1/targets of Prometheus' HTTP API.
    """
    pools = tuple(f"{PREFIX}-{job}" for job in JOBS)
    own = [one for one in targets if one.get("scrapePool", "").startswith(pools)]
    # Prometheus has them in no order.
    silent = sorted(_silent(one) for one in own if one.get("health") != "up")
    said = f"Prometheus reads {len(own)} target{'' if len(own) == 1 else 's'}; {len(own) - len(silent)} answer."
    return f"{said} No answer: {capped(silent, _SHOWN)}." if silent else said


def _silent(target: Mapping[str, Any]) -> str:
    labels = target.get("labels", {})
    why = target.get("lastError") or "not read yet"
    return f"{labels.get('node', '?')} (job {labels.get('job', '?')}, {labels.get('instance', '?')}): {why}"
