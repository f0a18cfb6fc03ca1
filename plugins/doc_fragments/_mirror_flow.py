# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation that the modules of a flow of mirrors share."""

from __future__ import annotations


class ModuleDocFragment:
    """Which flow is looked at."""

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
