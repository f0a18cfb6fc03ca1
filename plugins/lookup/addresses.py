# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lookup addresses: names to IP addresses, as the control node resolves them."""

from __future__ import annotations

DOCUMENTATION = r"""
name: addresses
short_description: resolve names on the control node
description:
  - Returns one dictionary, name to the sorted list of its IPv4 and IPv6 addresses; empty for a name that cannot be
    resolved.
options:
  _terms:
    description: The names.
    type: list
    elements: str
    required: true
author: The streamops engineers (@streamops)
"""

EXAMPLES = r"""
- name: Show the addresses of two hosts
  ansible.builtin.debug:
    msg: "{{ lookup('streamops.kafka.addresses', 'kafka1.example.org', 'kafka2.example.org') }}"
"""

RETURN = r"""
_raw:
  description: One dictionary, name to addresses.
  type: list
  elements: dict
"""

from typing import Any

from ansible.plugins.lookup import LookupBase

from ..plugin_utils.addresses import resolved


class LookupModule(LookupBase):  # type: ignore[misc]  # Ansible ships no types
    """What Ansible asks for the lookup of this file."""

    def run(self, terms: list[Any], variables: Any = None, **kwargs: Any) -> list[dict[str, list[str]]]:
        """All names of all terms in one dictionary."""
        names = [str(name) for term in terms for name in (term if isinstance(term, (list, tuple)) else [term])]
        return [resolved(names)]
