# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether the connectors of a mirror took their configuration, from what the mirror has logged since its start. Pure.

The worker that leads the group of a flow gives the connectors their configuration (KIP-710; MirrorHerder of Kafka 3.9
and 4). Where Kafka Connect refuses it, the worker logs an error and no more: the mirror listens, heartbeats come
through, and the connectors go on with the configuration from before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from .log_lines import masked

#: What carries a flow: MirrorMaker.CONNECTOR_CLASSES.
CONNECTORS = ("MirrorSourceConnector", "MirrorHeartbeatConnector", "MirrorCheckpointConnector")
#: A part that every line has which is looked at.
TELLING = r"oined group|a leader for|connector configured for|Failed to configure|lost leadership for|^Invalid value "

_MEMBER = re.compile(r"clientId=(\S+), .*Successfully joined group with .*memberId='([^']*)'")
_JOINED = re.compile(r"clientId=(\S+), .*Joined group at .*leader='([^']*)'")
_LEADS = re.compile(r"is now a leader for (\S+)\. Configuring")
_TAKEN = re.compile(r" (\w+) connector configured for (\S+)\.(?: |$)")
_SAME = re.compile(r"is a leader for (\S+) and configuration for (\w+) is already up to date")
_REFUSED = re.compile(r"Failed to configure (\w+) connector for (\S+)")


@dataclass
class Flow:
    """What is known of one flow: who this worker is in its group, who leads, and what became of each connector."""

    member: str = ""
    leader: str = ""
    #: By connector why it was refused; empty where it was taken.
    told: dict[str, str] = field(default_factory=dict)

    @property
    def is_settled(self) -> bool:
        """Return whether this worker has nothing more to say about the configuration of the flow."""
        if not self.leader or not self.member:
            return False
        return self.leader != self.member or set(self.told) >= set(CONNECTORS)


def standing(lines: Iterable[str], pairs: Sequence[str]) -> dict[str, list[str]]:
    """Return what became of these flows (source->target): C(unsettled), C(refused).

    unsettled -- flows of which the mirror may still have to configure connectors; refused -- one sentence for each flow
    whose connectors did not take their configuration, with why.
    """
    flows = read(lines)
    return {
        "unsettled": [pair for pair in pairs if pair not in flows or not flows[pair].is_settled],
        "refused": [sentence for pair in pairs if pair in flows for sentence in _refusals(pair, flows[pair])],
    }


def _refusals(pair: str, flow: Flow) -> Iterator[str]:
    reasons = {name: why for name, why in flow.told.items() if why}
    if reasons:
        why = "; ".join(dict.fromkeys(reasons.values()))
        names = " and ".join(sorted(reasons))
        yield f"{pair}: Kafka Connect refuses the configuration of {names}, so the one from before goes on: {why}"


def read(lines: Iterable[str]) -> dict[str, Flow]:
    """Return what these lines, all since one start of the mirror, tell of each flow."""
    flows: dict[str, Flow] = {}
    refused: Flow | None = None
    connector = ""
    for line in lines:
        if refused and line.startswith("Invalid value "):
            refused.told[connector] = masked(line)
        elif found := _MEMBER.search(line):
            flows.setdefault(found[1], Flow()).member = found[2]
        elif found := _JOINED.search(line):
            flows.setdefault(found[1], Flow()).leader = found[2]
        elif found := _LEADS.search(line):
            flows.setdefault(found[1], Flow()).told.clear()
        elif found := _TAKEN.search(line):
            flows.setdefault(found[2], Flow()).told[found[1]] = ""
        elif found := _SAME.search(line):
            flows.setdefault(found[1], Flow()).told[found[2]] = ""
        elif found := _REFUSED.search(line):
            refused, connector = flows.setdefault(found[2], Flow()), found[1]
            refused.told[connector] = "its log says why"
    return flows
