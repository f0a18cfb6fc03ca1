#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the archive of a Kafka or ZooKeeper release on the control node."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kafka_archive
short_description: Make the archive of a Kafka or ZooKeeper release on the control node
version_added: 0.1.0
author: The streamops engineers (@streamops)
description:
  - Makes one uncompressed tar file per release in a cache directory, from jars that Maven fetches and a lock file pins,
    or from the archive that Apache publishes, pinned by its SHA-512. Both end in the same layout and launcher.
  - The file is the same byte for byte wherever it is made. With a filled cache neither Maven nor a network is needed.
  - Nothing is used before every byte of it is checked; a damaged file is refused and nothing is left half done.
extends_documentation_fragment: [streamops.kafka._attributes]
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
options:
  product:
    description: What the release is of.
    type: str
    choices: [kafka, zookeeper]
    default: kafka
  source:
    description: Where the jars come from.
    type: str
    choices: [maven, archive]
    default: maven
  version:
    description: The version of the product.
    type: str
    required: true
  launcher:
    description: The launcher of the operator tools, a file of this collection.
    type: path
    required: true
  lock:
    description: The lock file. Required with O(source=maven).
    type: path
  src:
    description:
      - The archive that Apache publishes, as a file on the control node or an HTTP(S) URL.
      - Required with O(source=archive).
    type: str
  sha512:
    description: SHA-512 of O(src), bare or as in Apache's C(.sha512) files. Required with O(source=archive).
    type: str
  cache_dir:
    description: The cache directory. By default C(streamops-kafka) in E(XDG_CACHE_HOME) or C(~/.cache).
    type: path
  maven:
    description: The Maven command.
    type: str
    default: mvn
  maven_settings:
    description: A Maven settings file, for example one that names a mirror.
    type: path
  download_timeout:
    description: Seconds that a download from O(src) may take in all.
    type: int
    default: 900
  lock_timeout:
    description: Seconds to wait for another run that makes the same archive.
    type: int
    default: 900
"""

EXAMPLES = r"""
- name: Make the archive of Kafka 4.3.1 from Maven
  streamops.kafka.kafka_archive:
    version: 4.3.1
    launcher: roles/_common/files/launcher
    lock: roles/_common/files/kafka-4.3.1.lock.json
  delegate_to: localhost

- name: Make it from the archive that Apache publishes
  streamops.kafka.kafka_archive:
    source: archive
    version: 4.3.1
    launcher: roles/_common/files/launcher
    src: /srv/mirror/kafka_2.13-4.3.1.tgz
    sha512: "{{ kafka_archive_sha512 }}"
  delegate_to: localhost
"""

RETURN = r"""
archive:
  description: The archive. In check mode it may not be there yet.
  returned: success
  type: str
release_name:
  description: The name of the one directory in the archive.
  returned: success
  type: str
sha256:
  description: SHA-256 of the archive; empty in check mode when it is not there yet.
  returned: success
  type: str
"""

import os
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core.errors import errors_reported
from ..module_utils._release import archive as _archive
from ..module_utils._release.cache import Cache, default_directory
from ..module_utils._release.layout import PRODUCTS, normal_sha512
from ..module_utils._release.maven import bounded

ARGUMENTS = {
    "product": {"type": "str", "choices": ["kafka", "zookeeper"], "default": "kafka"},
    "source": {"type": "str", "choices": ["maven", "archive"], "default": "maven"},
    "version": {"type": "str", "required": True},
    "launcher": {"type": "path", "required": True},
    "lock": {"type": "path"},
    "src": {"type": "str"},
    "sha512": {"type": "str"},
    "cache_dir": {"type": "path"},
    "maven": {"type": "str", "default": "mvn"},
    "maven_settings": {"type": "path"},
    "download_timeout": {"type": "int", "default": 900},
    "lock_timeout": {"type": "int", "default": 900},
}


def spec_of(params: dict[str, Any]) -> _archive.Spec:
    """Read the files that the parameters name."""
    version, launcher = params["version"], _archive.read_text(params["launcher"], "Launcher")
    product = PRODUCTS[params["product"]]
    if params["source"] == "archive":
        digest = normal_sha512(params["sha512"])
        return _archive.Spec(version, launcher, src=params["src"], sha512=digest, product=product)
    lock = _archive.read_lock(params["lock"], version, product.name)
    return _archive.Spec(version, launcher, lock, params["lock"], product=product)


def main() -> None:
    """Have the archive in the cache."""
    module = AnsibleModule(
        argument_spec=ARGUMENTS,
        required_if=[("source", "maven", ["lock"]), ("source", "archive", ["src", "sha512"])],
        supports_check_mode=True,
    )
    params = module.params
    with errors_reported(module):
        spec = spec_of(params)
        cache = Cache(params["cache_dir"] or default_directory(os.environ))
        means = _archive.Means(
            bounded,
            params["maven"],
            params["maven_settings"] or "",
            params["download_timeout"],
            params["lock_timeout"],
        )
        if module.check_mode:
            sha256 = _archive.cached(spec, cache) or ""
            changed = not sha256
        else:
            sha256, changed = _archive.ensure(spec, cache, means)
    path = cache.archive(spec.name)
    after = f"{path}\n"
    module.exit_json(
        changed=changed,
        archive=path,
        release_name=spec.name,
        sha256=sha256,
        diff={"before": "" if changed else after, "after": after},
    )


if __name__ == "__main__":
    main()
