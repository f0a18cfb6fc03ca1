# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether a cluster may go back to an older release of Kafka.

A node reads what a newer release has written as long as the features that the cluster has finalised are ones that it
knows (KIP-584): metadata.version tells the format of the metadata (KIP-778). No release takes a change of the metadata
back ("a downgrade is only possible if there are no metadata changes in the versions between", Kafka's upgrade page,
KAFKA-15537), and patch releases of a minor release have the same features.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...module_utils._core.cves import numbers
from ...module_utils._release.releases import like


def goes_back(runs: str | None, wished: str) -> bool:
    """Tell whether a node that ``runs`` one version shall get an older minor release; null and no version never do."""
    before, after = numbers(runs or "")[:2], numbers(wished)[:2]
    return bool(before and after) and after < before


def too_new(features: Mapping[str, int], wished: str) -> list[str]:
    """Return the finalised features that a version does not take, each as name and level.

    Of a feature that its release does not list it takes only level 0; a release that we do not know takes nothing.
    """
    known = like(wished)
    highest = known.highest if known else {}
    return [f"{name} {level}" for name, level in sorted(features.items()) if level > highest.get(name, 0)]
