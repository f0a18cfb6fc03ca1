# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Looks at all that a status shows of a cluster in one session: its health, its features, and what its nodes believe.

A process for each of the three, with a connection and a login of its own, takes longer than all that they ask.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from .._client.session import Session
from .._core.errors import StreamopsError
from .._features.look import features_info
from .._metadata.look import compare_metadata
from .look import health_of

#: What is asked beside the health, as the modules features_info and metadata_compare return it.
FEATURES, METADATA = "features", "metadata"
#: What the controller would refuse is not shown, and a controller that hangs would cost the longest time of a request.
_FEATURES = {"ask_controller": False}
#: What can be told in one look of healthy nodes; one that hangs costs this much once. Times are in seconds.
_METADATA = {
    "subjects": ("leader", "features", "brokers", "controllers", "topics", "partitions"),
    "settle": 3.0,
    "node_timeout": 3.0,
    "names": 5,
}


def cluster_status(params: dict[str, Any], is_check: bool) -> dict[str, Any]:
    """Return what cluster_health returns, and beside it ``features`` and ``metadata``, each as its module returns it.

    One that failed has only a ``msg``, and one that was not asked is empty: neither changes the verdict. What
    cluster_health raises is raised here: nothing can be said of the cluster then.
    """
    unasked: dict[str, Any] = {FEATURES: {}, METADATA: {}}
    return {**unasked, **health_of(params, is_check, partial(_beside, params["controller_protocol"]))}


def _beside(protocol: str | None, session: Session, health: dict[str, Any]) -> dict[str, Any]:
    """Ask for what is shown beside the health of a cluster that answered."""
    of_controllers = {"controller_protocol": protocol}
    questions = {
        FEATURES: partial(features_info, session, {**_FEATURES, **of_controllers}, True, False),
        METADATA: partial(compare_metadata, session, {**_METADATA, **of_controllers}, True, False),
    }
    return {part: answer(questions[part]) for part in parts_to_ask(health["cluster"]["quorum"])}


def parts_to_ask(quorum: dict[str, Any] | None) -> Collection[str]:
    """Return what a cluster with this quorum, as cluster_info returns it, can be asked beside its health.

    With ZooKeeper, None, there is no metadata log. Where the controllers did not answer just now, they are not asked
    again: that takes up to a minute.
    """
    if quorum is None:
        return (FEATURES,)
    return () if quorum["error"] else (FEATURES, METADATA)


def answer(question: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the answer to a question, or a C(msg) that says why there is none."""
    try:
        return question()
    except StreamopsError as error:
        return {"msg": error.message}
    except Exception as error:  # Whatever it is, it must not take away the verdict, which is known by now.
        return {"msg": f"{type(error).__name__}: {error}"}
