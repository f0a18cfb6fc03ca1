# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a run says of a metadata quorum without a stable leader, which it may correct and no gate can judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_LOOK = (
    "look at what changed last on the controllers (limits of connections, timeouts, listeners), at the load of their "
    "machines and at the network between them; correct the inventory and run again: controllers with other files "
    "restart at once, without a gate."
)


def at_once(cluster: str, found: Mapping[str, Any], is_broker: bool) -> str:
    """Return why a controller restarts without a gate; found is what unsteady_quorum tells."""
    with_it = " It is a broker too, and stops with the others: what they serve pauses." if is_broker else ""
    return (
        f"the metadata quorum of {cluster} has no stable leader ({found['epochs']}), so its controllers with new files "
        f"restart at once, without a gate.{with_it}"
    )


def note(cluster: str, found: Mapping[str, Any]) -> str:
    """Return what a run says as soon as it has looked at the controllers, before it judges or changes anything."""
    if not found:
        return ""
    changed = "; ".join(found["changed"]) or "unknown"
    return (
        f"{_seen(cluster, found)} Changed last: {changed}. Controllers whose files this run changes restart at once, "
        "without a gate; if it changes none of them, what changed last is taken back where that can be, and it ends."
    )


def messages(cluster: str, found: Mapping[str, Any], back: Sequence[str]) -> dict[str, str]:
    """Return the messages of a run that ends: what is C(planned), what it has C(done), and did C(in_vain).

    back -- what is taken back, a phrase each; without any, nothing is, and done says so.
    """
    if not found:
        return {}
    seen = _seen(cluster, found)
    if not back:
        changed = "; ".join(found["changed"]) or "unknown, each has only been whole with what it runs with"
        ends = f"{seen}\nChanged last: {changed}. Nothing was changed now: only what is younger than a day, and of the "
        ends += f"same release, is taken back.\nfix: {_LOOK}"
        return {"planned": ends, "done": ends, "in_vain": ends}
    changes = "\n".join(f"  {one}" for one in back)
    kept = (
        "What was given up is in the directory failed beside the start files of each. The same files are refused, "
        "unless with -e kafka_retry_generation=true."
    )
    return {
        "planned": f"{seen} What changed last on the controllers is to be taken back:\n{changes}",
        "done": f"{seen} So what changed last on the controllers was taken back:\n{changes}\nThey run with the files "
        f"from before, and the quorum keeps its leader. {kept}\nfix: correct the values and run again.",
        "in_vain": f"{seen} What changed last on the controllers was taken back, and the quorum keeps no leader "
        f"with the files from before either:\n{changes}\n{kept}\nfix: {_LOOK}",
    }


def _seen(cluster: str, found: Mapping[str, Any]) -> str:
    return (
        f"The metadata quorum of {cluster} has no stable leader: {found['epochs']}, as "
        f"{', '.join(found['controllers'])} see it. Nothing in the cluster can be changed, and no restart gate opens."
    )
