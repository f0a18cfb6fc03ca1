"""Ask brokers for their configurations, one request to each: what a broker has in force only itself can tell."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
from collections.abc import Iterable

from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._configs.api import BROKER, describe_configs
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from page.known.brokers import BrokerConfigs, Shared, Told
from page.known.details import BROKERS
from page.known.grants import why_not


def broker_configs(session: Session, brokers: Iterable[int], before: BrokerConfigs | None) -> BrokerConfigs:
    """Return what these brokers tell of their configurations, beside what others told C(before).

    One that does not answer keeps what it told before, and its cause. Raises a StreamopsError where none answers.
    """
    shared = Shared()
    told = dict(before.told) if before else {}
    failed: dict[int, StreamopsError] = {}
    asked = sorted(brokers)
    for number in asked:
        try:
            found = describe_configs(session, BROKER, {str(number): None})
        except StreamopsError as error:
            failed[number] = error
        else:
            told[number] = Told(time.time(), shared.settings(found.get(str(number), {})))
    if asked and len(failed) == len(asked):
        raise failed[asked[0]]
    return BrokerConfigs(told, {number: why_not(BROKERS, error) for number, error in failed.items()})
