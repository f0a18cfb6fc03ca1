"""Ask one cluster for the newest records of the topics of flows: one request for each 5,000 partitions of a leader."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Key
from ansible_collections.streamops.kafka.plugins.module_utils._logs.api import Leaders, newest_times
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from page.known.newest import Newest, asked_for, covered_by


def newest_of(session: Session, cluster: str, flows: Sequence[Flow], led: Mapping[Key, int | None]) -> Newest:
    """Return the newest records of the topics of flows in a cluster; what is not told has its state.

    C(led) is which broker leads each partition, None for none.
    """
    topics = {name for name, _index in led}
    covered = covered_by(flows, cluster, topics)
    wanted = asked_for(covered, cluster, topics)
    asked = time.time()
    keys = [key for key in led if key[0] in wanted]
    times: dict[str, dict[int, int | str | None]] = {}
    for (name, index), found in newest_times(session, Leaders(led, frozenset()), keys).items():
        times.setdefault(name, {})[index] = found
    return Newest(asked, covered, times)
