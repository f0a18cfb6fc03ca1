"""Ask each broker which features it knows: one request to each, which needs no right."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._features.api import Announced, announced_by
from ansible_collections.streamops.kafka.plugins.module_utils._features.levels import METADATA
from ansible_collections.streamops.kafka.plugins.module_utils._features.plan import BROKER, Node, State
from page.known.features import features_of


def asked_features(session: Session, brokers: Iterable[int]) -> list[dict[str, Any]]:
    """Return what these brokers tell of features, as features_of has it; one that does not answer is left out."""
    told: dict[int, Announced] = {}
    for number in sorted(brokers):
        try:
            told[number] = announced_by(session, number)
        except StreamopsError:
            # Whether it is up the findings say.
            continue
    # The one that has read most of the metadata knows what is finalized now.
    newest = max(told.values(), key=lambda one: -1 if one.epoch is None else one.epoch, default=Announced({}, {}, None))
    epoch = newest.epoch if METADATA in newest.finalized else None
    nodes = tuple(Node(number, BROKER, one.supported) for number, one in told.items())
    return features_of(State(newest.finalized, epoch, nodes))
