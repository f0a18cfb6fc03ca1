# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Features: what a node announces (ApiVersions), and the change of their levels (UpdateFeatures, KIP-584)."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._client.session import Session
from .._client.wire import Channel

#: Kafka's errors INVALID_UPDATE_VERSION and FEATURE_UPDATE_FAILED: what is wrong is one feature.
_OF_A_FEATURE = (95, 96)
#: org.apache.kafka.clients.admin.FeatureUpdate.UpgradeType; 3, an unsafe downgrade, is never sent.
_RAISE, _SAFE = 1, 2
#: ApiVersions, and its versions that carry features: before 4 those whose lowest level is 0 are left out (KAFKA-17011).
_API_VERSIONS, _VERSIONS = 18, (4, 3)
_SOFTWARE = {"client_software_name": "streamops", "client_software_version": "1"}


@dataclass(frozen=True)
class Announced:
    """What a node says: the levels that it supports, and those that are finalized as far as it knows.

    C(epoch) is None where it knows of no finalized features.
    """

    supported: Mapping[str, tuple[int, int]]
    finalized: Mapping[str, int]
    epoch: int | None


def announced_by(session: Session, broker: int | None = None) -> Announced:
    """Return what a broker (None = any) announces."""
    from kafka.protocol.metadata import ApiVersionsRequest

    where = "any broker" if broker is None else f"broker {broker}"
    what = f"list features of {where}"
    request = ApiVersionsRequest(**_SOFTWARE, min_version=_VERSIONS[-1])
    return announced_of(session.sound(session.send(what, request, broker), what))


def announced_at(server: str, context: ssl.SSLContext | None, seconds: float) -> Announced:
    """Return what the node at host:port announces, which a listener tells before any login.

    What fails is an OSError or a ValueError.
    """
    with Channel(seconds, seconds).open(server, context) as channel:
        return announced_of(api_versions(channel))


def api_versions(channel: Channel) -> Any:
    """Return the answer to ApiVersions of the node at the other end of an open channel, with its features."""
    from kafka.protocol.metadata import ApiVersionsRequest, ApiVersionsResponse

    for version in _VERSIONS:
        # The one byte ends the header of a request with flexible fields: it has no tagged field.
        body = b"\0" + ApiVersionsRequest(**_SOFTWARE).encode(version=version)
        answer = ApiVersionsResponse.decode(channel.ask((_API_VERSIONS, version), body), version=version)
        if not answer.error_code:
            return answer
    raise ValueError("the listener tells of no features: it is older than Kafka 2.4")


def announced_of(answer: Any) -> Announced:
    """Return what an answer to ApiVersions says of features."""
    epoch = answer.finalized_features_epoch
    return Announced(
        {one.name: (one.min_version, one.max_version) for one in answer.supported_features or ()},
        {one.name: one.max_version_level for one in answer.finalized_features or ()},
        None if epoch is None or epoch < 0 else epoch,
    )


def update_features(
    session: Session, levels: Mapping[str, int], lowers: bool, validate_only: bool = False
) -> dict[str, tuple[str, str] | None]:
    """Ask the controller for these levels, all or none; per feature None or (Kafka's error name, why).

    C(lowers): they may be lower than now, where Kafka finds that safe.

    Before Kafka 4.0 each feature has an answer of its own; since then the first one that is refused is named.
    """
    from kafka.protocol.admin import UpdateFeaturesRequest

    kind = _SAFE if lowers else _RAISE
    update = UpdateFeaturesRequest.FeatureUpdateKey
    request = UpdateFeaturesRequest(
        timeout_ms=session.connection.request_timeout * 1000,
        feature_updates=[
            update(feature=name, max_version_level=level, allow_downgrade=False, upgrade_type=kind)
            for name, level in levels.items()
        ],
        validate_only=validate_only,
        min_version=1,
    )
    what = "update features"
    answer = session.send_to_controller(what, request)
    if answer.error_code not in (0, *_OF_A_FEATURE):
        session.sound(answer, what)
    refused: dict[str, tuple[str, str] | None] = dict.fromkeys(levels)
    if answer.error_code:
        code, why = session.explain(what, answer)
        # It names the feature first, and behind that those that it depends on.
        named = sorted((why.find(name), name) for name in levels if name in why)
        refused.update(dict.fromkeys([named[0][1]] if named else levels, (code, why)))
    refused.update({one.feature: session.outcome(what, one) for one in answer.results or () if one.error_code})
    return refused
