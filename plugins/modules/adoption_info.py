#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: adoption_info
short_description: read what runs of Kafka on a machine, whoever installed it
description:
  - Finds the processes of Kafka, ZooKeeper, MirrorMaker and Kafka Connect on a machine, however they were installed
    and started (by hand, by packages, by another role), and reads what they run with. Nothing is changed.
  - Works as any user with nothing but Python's standard library. What this user may not read stands in RV(unread), and
    everything else is returned. As root it sees all of it.
  - Values of secrets are never returned. Which names are those of secrets is decided as everywhere in this collection;
    they stand in RV(processes[].secrets), and their values are masked in properties, variables and arguments of the
    JVM. Content of key stores is not read beyond its first bytes, and no password is used.
  - A process in a container is named and not looked into.
author: The streamops engineers (@streamops)
extends_documentation_fragment: [streamops.kafka._attributes.look]
options:
  locks:
    description:
      - Locks of releases, each as its file has it (C(roles/_common/files/*.lock.json) of this collection). The jars of
        a process are compared by their SHA-256 with the lock of the same product and version. Without one,
        RV(processes[].release) goes by the names of jars alone.
      - A task that leaves this option out gets the locks of all releases that this collection has; with an empty list
        no jar is compared.
    type: list
    elements: dict
    default: []
"""

EXAMPLES = r"""
- name: Read what runs on this machine
  streamops.kafka.adoption_info:
  become: true
  register: installed

- name: Compare the jars with another lock than those of this collection
  streamops.kafka.adoption_info:
    locks: "{{ query('ansible.builtin.file', '/srv/locks/kafka-4.3.1.lock.json') | map('from_json') }}"
  become: true
"""

RETURN = r"""
machine:
  description: >-
    The same text on all hosts of an inventory that are one machine (its boot and its numbering of processes); empty
    where that is not known.
  returned: always
  type: str
processes:
  description: The processes, by their numbers.
  returned: always
  type: list
  elements: dict
  contains:
    product:
      description: V(kafka), V(zookeeper), V(mirror) (MirrorMaker) or V(connect), by its main class.
      type: str
    pid:
      description: The number of the process.
      type: int
    since:
      description: When it started, in seconds since 1970.
      type: float
    user:
      description: The user that it runs as; the number of one without a name.
      type: str
    group:
      description: The group that it runs as.
      type: str
    cwd:
      description: The directory that it works in, where relative paths begin; null when this user may not see it.
      type: str
    main_class:
      description: The class that java was started with.
      type: str
    ours:
      description:
        - The node of this collection that it is, by the line in its unit or program, or by its start record, with
          C(product), C(node_id) and C(cluster), null as far as that does not say. Null for a process that something
          else started.
      type: dict
    java:
      description:
        - C(path), C(version) (the major number), C(full) and C(error) (null when the version is known), as far as this
          user may see which java runs.
      type: dict
    jvm:
      description:
        - The arguments of the JVM but its class path, masked. C(given) are those that somebody chose; the others are
          such as Kafka's own scripts give, C(heap), C(performance), C(gc_log), C(jmx) and C(logging).
      type: dict
    argument_files:
      description: Files of arguments of java (C(@FILE)) that could not be read, as the command line has them.
      type: list
      elements: str
    logs_dir:
      description: Where its own logs go (C(kafka.logs.dir)); empty where the command line does not say.
      type: str
    log_configuration:
      description: The file that says what is logged; empty where the command line does not say.
      type: str
    jmx_port:
      description: The port of JMX, null without one.
      type: int
    release:
      description:
        - C(version) and C(vendor) (V(apache), V(confluent), V(cloudera), V(hortonworks), V(redhat) or V(unknown)) by
          the names of its jars, C(dir), where they lie, and C(summary), the same in words.
        - C(compared) says whether O(locks) has this release; then C(differing) and C(missing) are the jars of the lock
          that have another content and that are not there, and C(added) how many jars there are besides.
      type: dict
    properties_file:
      description: The file of its properties; empty without one.
      type: str
    properties:
      description: Its properties, overrides of the command line among them, with masked secrets.
      type: dict
    overrides:
      description: What C(--override) of the command line says, masked.
      type: dict
    origins:
      description: Where each property stands, as C(PATH:LINE) or C(--override).
      type: dict
    secrets:
      description: Each secret with its C(name) and C(origin), and never with its value.
      type: list
      elements: dict
    environment:
      description:
        - The variables that Kafka, its scripts or the JVM read, each with C(name), C(value) (masked), C(origin) (the
          file that gives it, or V(process)) and C(differs), whether files say something else than the process has.
      type: list
      elements: dict
    limits:
      description: The limits C(nofile), C(nproc), C(memlock), C(core) and C(as), each with C(soft) and C(hard), null
        for unlimited.
      type: dict
    service:
      description:
        - What manages it. C(manager) is V(systemd), V(supervisor), V(container), V(other) (such as runit) or V(none)
          (C(nohup), C(-daemon)), C(name) its unit, program or container, C(scope) V(user) for a user's own systemd.
        - C(control) is by what it is told to stop and start, the file of the unit or that of supervisord.
        - By its files C(files), C(user), C(group), C(directory), C(commands), C(environment_files), C(restart) and
          C(limits); C(enabled) is whether it starts at boot, as C(systemctl is-enabled) says it. C(needs_reload) says
          that the files are newer than what systemd has read, C(unresolved) what only the manager could fill in.
      type: dict
    dirs:
      description:
        - Its directories of data, each with C(path), C(exists), C(metadata) (whether it holds the metadata log),
          C(logs), C(meta_properties) (the content of C(meta.properties)), C(myid) (of ZooKeeper), C(mount), C(device)
          and C(error), null when it could be read.
      type: list
      elements: dict
    stores:
      description: Its key and trust stores, each with C(path), C(kind) (V(JKS), V(PKCS12) or V(PEM), by its content)
        and C(error), null when the kind is known.
      type: list
      elements: dict
    login_files:
      description: Files of JAAS and Kerberos that the JVM was given.
      type: list
      elements: str
    ports:
      description: The TCP ports that it listens on.
      type: list
      elements: int
unread:
  description: What this user may not read, or what was not there, with C(path) and C(why).
  returned: always
  type: list
  elements: dict
"""

import json
from typing import Any

from ..module_utils._adopt.look import look
from ..module_utils._core.module import run_module
from ..module_utils._release.lock import parse

SPEC = {"locks": {"type": "list", "elements": "dict", "default": []}}


def read(module: Any) -> dict[str, Any]:
    """Return what runs on this machine."""
    locks = [parse(json.dumps(lock), str(lock.get("name"))) for lock in module.params["locks"]]
    return {"changed": False, **look(locks)}


def main() -> None:
    """Run the module."""
    run_module(SPEC, read)


if __name__ == "__main__":
    main()
