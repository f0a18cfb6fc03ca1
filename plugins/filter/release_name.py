# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""The name of a release directory, from what is known before anything is downloaded."""

from __future__ import annotations

DOCUMENTATION = r"""
name: release_name
author: The streamops engineers
version_added: 0.1.0
short_description: Name the release directory that a lock file or an archive ends in
description:
  - Gives C(<product>-<version>-<digest12>), the name of the directory in which a release is installed and of
    the archive it is unpacked from.
  - The digest follows from what the release is made of, so a node that already has the directory needs no archive at
    all, and no control node has to fetch anything to know that.
positional: launcher_sha256, archive_sha512, product
options:
  _input:
    description: The parsed lock file (source C(maven)), or the version as a string (source C(archive)).
    type: raw
    required: true
  launcher_sha256:
    description: SHA-256 of the launcher of the operator tools, in hexadecimal.
    type: str
    required: true
  archive_sha512:
    description: SHA-512 of Apache's archive; needed with a version, not looked at with a lock file.
    type: str
    default: ''
  product:
    description: C(kafka) or C(zookeeper).
    type: str
    default: kafka
"""

EXAMPLES = r"""
- name: Show the release that a lock file ends in
  ansible.builtin.debug:
    msg: "{{ lock | streamops.kafka.release_name(launcher_sha256) }}"
  vars:
    lock: "{{ lookup('ansible.builtin.file', 'kafka-4.3.1.lock.json') | from_json }}"
    launcher_sha256: "{{ lookup('ansible.builtin.file', 'launcher', rstrip=false) | hash('sha256') }}"

- name: Show the release that Apache's archive ends in
  ansible.builtin.debug:
    msg: "{{ '4.3.1' | streamops.kafka.release_name(launcher_sha256, kafka_archive_sha512) }}"
"""

RETURN = r"""
_value:
  description: The name, such as C(kafka-4.3.1-0123456789ab).
  type: str
"""

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError


def release_name(
    made_of: Mapping[str, Any] | str, launcher_sha256: str, archive_sha512: str = "", product: str = "kafka"
) -> str:
    """Name the release made of a parsed lock file, or of the archive of a version with this SHA-512."""
    from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
    from ansible_collections.streamops.kafka.plugins.module_utils._release import layout
    from ansible_collections.streamops.kafka.plugins.module_utils._release import lock as _lock

    try:
        if isinstance(made_of, str):
            return layout.name_from_archive(made_of, archive_sha512, launcher_sha256, layout.PRODUCTS[product])
        lock = _lock.from_mapping(made_of)
        return layout.name_from_lock(lock.version, lock.digests, launcher_sha256, layout.PRODUCTS[product])
    except StreamopsError as error:
        raise AnsibleFilterError(error.message) from error
    except (KeyError, TypeError, ValueError) as error:
        raise AnsibleFilterError(f"release_name: this is not a lock file: {error}") from error


class FilterModule:
    """The filter as Ansible finds it."""

    def filters(self) -> dict[str, Callable[..., str]]:
        """The filters of this file by name."""
        return {"release_name": release_name}
