"""Write metrics as the text that Prometheus reads (the exposition format). Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
#: What the exposition format wants escaped in the value of a label.
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
Series = tuple[dict[str, Any], float]


def escaped(value: str) -> str:
    """Return the value of a label as the text format has it; what is no valid Unicode becomes a question mark."""
    return value.translate(_ESCAPES).encode("utf-8", "replace").decode("utf-8")


@dataclass(frozen=True)
class Family:
    """One metric of one cluster as text: C(head) is what it means, C(body) its series."""

    name: str
    head: str
    body: str


def exposition(clusters: Iterable[Iterable[Family]]) -> str:
    """Return the text of many clusters, each metric once: the format wants all series of a metric in one group."""
    heads: dict[str, str] = {}
    bodies: dict[str, list[str]] = {}
    for families in clusters:
        for one in families:
            heads.setdefault(one.name, one.head)
            bodies.setdefault(one.name, []).append(one.body)
    return "".join(f"{line}\n" for name, some in bodies.items() for line in (heads[name], *some))


def family(cluster: str, name: str, meaning: str, series: Iterable[Series], kind: str = "gauge") -> Iterator[Family]:
    """Yield one metric of a cluster; none when it has no series."""
    yield from family_of_service(name, meaning, (({"cluster": cluster, **labels}, one) for labels, one in series), kind)


def family_of_service(name: str, meaning: str, series: Iterable[Series], kind: str) -> list[Family]:
    """Return one metric of the service itself, which belongs to no cluster; none when it has no series."""
    lines = [f"{name}{_labels(labels)} {_number(value)}" for labels, value in series]
    return [Family(name, f"# HELP {name} {meaning}\n# TYPE {name} {kind}", "\n".join(lines))] if lines else []


def _labels(labels: dict[str, Any]) -> str:
    pairs = ",".join(f'{name}="{escaped(str(value))}"' for name, value in labels.items())
    return f"{{{pairs}}}"


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.3f}"
