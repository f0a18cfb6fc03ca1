#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Download the jars of a lock file."""

from __future__ import annotations

DOCUMENTATION = r"""
module: maven_jars
short_description: Download the jars of a lock file
version_added: 0.1.0
author: The streamops engineers (@streamops)
description:
  - Fetches jars with Maven and checks each against the SHA-256 that the lock file pins, before any of them is put in
    place. When all are there already, neither Maven nor a network is needed.
  - A jar that is missing or not the pinned one is replaced. Other files in the directory stay as they are.
extends_documentation_fragment: [streamops.kafka._attributes]
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
options:
  lock:
    description: The lock file, as C(tools/make_lock) writes it.
    type: path
    required: true
  dest:
    description: The directory, made when it is not there.
    type: path
    required: true
  maven:
    description: The Maven command.
    type: str
    default: mvn
  maven_settings:
    description: A Maven settings file, for example one that names a mirror.
    type: path
  lock_timeout:
    description: Seconds to wait for another run that fills the same directory.
    type: int
    default: 900
"""

EXAMPLES = r"""
- name: Download the jars that Spark needs for Kafka
  streamops.kafka.maven_jars:
    lock: roles/spark_validation/files/spark-kafka-4.2.0.lock.json
    dest: /opt/spark-kafka
"""

RETURN = r"""
jars:
  description: The paths of all jars of the lock file, sorted by file name.
  returned: success
  type: list
  elements: str
fetched:
  description: The file names of the jars that were missing or wrong.
  returned: success
  type: list
  elements: str
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core.errors import errors_reported
from ..module_utils._release import archive
from ..module_utils._release.maven import bounded

ARGUMENTS = {
    "lock": {"type": "path", "required": True},
    "dest": {"type": "path", "required": True},
    "maven": {"type": "str", "default": "mvn"},
    "maven_settings": {"type": "path"},
    "lock_timeout": {"type": "int", "default": 900},
}


def main() -> None:
    """Compare the directory with the lock, fetch what differs."""
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    params = module.params
    with errors_reported(module):
        lock = archive.read_lock(params["lock"])
        wrong = archive.jars_to_fetch(lock, params["dest"])
        means = archive.Means(
            bounded, params["maven"], params["maven_settings"] or "", lock_timeout=params["lock_timeout"]
        )
        if wrong and not module.check_mode:
            archive.ensure_jars(lock, params["lock"], params["dest"], means)
    before = "".join(f"{sha256}  {name}\n" for name, sha256 in wrong.items() if sha256)
    after = "".join(f"{lock.digests[name]}  {name}\n" for name in wrong)
    module.exit_json(
        changed=bool(wrong),
        jars=[os.path.join(params["dest"], jar.file) for jar in lock.jars],
        fetched=sorted(wrong),
        diff={"before": before, "after": after},
    )


if __name__ == "__main__":
    main()
