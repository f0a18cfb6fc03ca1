# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation that the modules of a flow of mirrors share."""

from __future__ import annotations


class ModuleDocFragment:
    """Which flow is looked at, and by what a failover by it is judged."""

    DOCUMENTATION = r"""
options:
  source:
    description: Alias of the source in MirrorMaker's properties, in this collection its C(kafka_cluster_name).
    type: str
    required: true
  target:
    description: Alias of the target, which is the cluster that O(bootstrap_servers) name.
    type: str
    required: true
  topics:
    description: >-
      Topics of the source, as in C(mirror_flows), regular expressions for whole names. One that is a plain name must
      find its topic; of the others one at least must find something.
    type: list
    elements: str
    required: true
  topics_exclude:
    description: Regular expressions of topics that are left out, beside those that MirrorMaker always leaves out.
    type: list
    elements: str
    default: []
  policy:
    description: Whether a topic gets the source's alias in front of its name, or keeps its name.
    type: str
    choices: [default, identity]
    default: default
"""

    # What a failover by a flow is judged by.
    FAILOVER = r"""
options:
  groups:
    description: Regular expressions of the groups whose offsets MirrorMaker translates, as in C(mirror_flows).
    type: list
    elements: str
    default: ['.*']
  groups_exclude:
    description: Regular expressions of groups that are left out, beside those that MirrorMaker always leaves out.
    type: list
    elements: str
    default: []
  exactly_once:
    description: >-
      What C(mirror_flows) says. Where it is not V(disabled), the target has markers of transactions between its
      records, so the bounds are wider.
    type: str
    choices: [disabled, preparing, enabled]
    default: disabled
  watch_seconds:
    description: >-
      Seconds, at least, for which the ends of the source are watched for records that are still written.
    type: int
    default: 5
"""

    # By what a look for gaps judges.
    GAPS = r"""
options:
  untouched_source:
    description: >-
      Whether MirrorMaker 2 keeps the offset syncs of the flow in the target (C(offset-syncs.topic.location=target)),
      in this collection C(untouched_source) of a flow. Only there they are looked for then, else only in the source.
    type: bool
    default: false
  confirm_seconds:
    description: >-
      Seconds after which a gap that is new is looked at a second time, because the position of a mirror that runs is as
      old as its last flush. Set it longer than C(offset.flush.interval.ms), with the legacy engine longer than a
      minute. V(0) does not look again.
    type: int
    default: 15
"""

    # Who stops writing into the source.
    FENCE = r"""
options:
  writers:
    description: >-
      Principals, such as V(User:orders), that may no longer write the topics of the flow in the source. Nothing is
      denied on topics to which no ACL applies, and denials do not stop super users. Principals that are named later are
      denied too.
    type: list
    elements: str
    default: []
  writers_stopped:
    description: Whether the owners of all writers that are not in O(writers) have stopped them.
    type: bool
    default: false
"""

    # A source that does not answer.
    LOST = r"""
options:
  source_lost:
    description: >-
      Whether the source is gone, with its disks perhaps. Then only the target is read, and of the source nothing is
      asked but whether it answers, for about ten seconds. A step is refused where the source does answer.
    type: bool
    default: false
"""
