"""What nodes and the page serve, and which names of it the alerts and dashboards ask for."""

from __future__ import annotations

import base64
import re
import ssl
import urllib.request
from collections.abc import Iterable, Sequence
from pathlib import Path

from ansible_collections.streamops.kafka.plugins.plugin_utils.monitoring import dashboards, rules

#: What other programs serve: node_exporter, blackbox_exporter, Prometheus and Alertmanager.
OTHERS = ("node_", "probe_", "prometheus_", "alertmanager_", "up")
#: By what serves them, how the names begin that alerts and dashboards ask for; the longest beginning counts.
NODES = {"kafka": ("kafka_", "jvm_", "process_"), "zookeeper": ("zookeeper_",), "mirror": ("kafka_connect_",),
         "canary": ("streamops_canary_",),
         "page with mirrors": ("streamops_page_mirror_",),
         "page": ("kafka_consumergroup_", "kafka_topic_", "kafka_lag_", "kafka_brokers", "streamops_")}  # fmt: skip
# A name of a series in PromQL stands where no function, keyword, label or duration can.
_NAME = re.compile(r"(?<![\w\"$.])([a-z]\w*_\w+|up)(?![\w(\"])(?!\s*[=!]~?\s*\")")
_NO_NAMES = frozenset({"group_left", "group_right", "label_replace", "predict_linear", "humanize"})


def names_in(query: str) -> set[str]:
    """The names of series in a query of PromQL."""
    # Series of recording rules have colons in their names.
    bare = re.sub(r"\w+(?::\w+)+|\{[^}]*\}|\"[^\"]*\"|\b(by|on|without|ignoring)\s*\([^)]*\)", "", query)
    return {one for one in _NAME.findall(bare) if one not in _NO_NAMES and not one.endswith("_over_time")}


def names_of_alerts() -> set[str]:
    """The names of series that the table of alerts uses."""
    kept = (record["expr"] for group in rules.records().values() for record in group)
    return set().union(*(names_in(query) for query in (*kept, *(alert.query for alert in rules.table()))))


def names_of_dashboards() -> set[str]:
    """The names of series that the dashboards use, those that their variables look for too."""
    panels = (panel for one in dashboards.table() for row in one["rows"] for panel in row["panels"])
    return {one["present"] for one in dashboards.table()}.union(*(names_in(panel["expr"]) for panel in panels))


def asked_of(kind: str) -> set[str]:
    """Those that a kind of node serves, or a service, as NODES names them."""
    begins = [(begin, owner) for owner, listed in NODES.items() for begin in listed]
    begins += [(begin, "others") for begin in OTHERS]

    def owner(name: str) -> str:
        fitting = [one for one in begins if name.startswith(one[0])]
        assert fitting, f"{name}: nothing serves such names"
        return max(fitting, key=lambda one: len(one[0]))[1]

    return {name for name in names_of_alerts() | names_of_dashboards() if owner(name) == kind}


def scrape(port: int, ca: Path | None = None, login: Sequence[str] = ()) -> str:
    """What a node of this machine serves; ca -- for TLS; login -- user and password. HTTPError says a refusal."""
    request = urllib.request.Request(f"{'https' if ca else 'http'}://127.0.0.1:{port}/metrics")
    if login:
        request.add_header("Authorization", f"Basic {base64.b64encode(':'.join(login).encode()).decode()}")
    context = ssl.create_default_context(cafile=str(ca)) if ca else None
    with urllib.request.urlopen(request, timeout=120, context=context) as answer:
        return str(answer.read().decode())


def served(text: str) -> set[str]:
    """The names of the series in what a node serves."""
    return {re.split(r"[{ ]", line, maxsplit=1)[0] for line in text.splitlines() if line and not line.startswith("#")}


def missing(kind: str, texts: Iterable[str]) -> set[str]:
    """The names that alerts and dashboards ask of what is of this kind, and that none of these scrapes has."""
    return asked_of(kind) - set().union(*map(served, texts))
