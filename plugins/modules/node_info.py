#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: node_info
short_description: read the state of a Kafka node on its host
description:
  - Reads what a play must know before it decides anything about a node. Runs on the node, as any user, with nothing but
    Python's standard library, and works on a host where nothing is installed yet.
  - Compares what the running process was started with (the start record, written by the start itself) with what is
    wanted now, and names each reason to restart. Files on disk play no part in that, so a run that was cut after
    writing them still finds the same reasons next time.
author: The streamops engineers (@streamops)
extends_documentation_fragment: [streamops.kafka._attributes.look, streamops.kafka._node]
options:
  node:
    description:
      - Options of this module in one mapping, which count before those that stand beside it.
    type: dict
    default: {}
  log_dirs:
    description: The data directories of the node (C(log.dirs)). They need not exist.
    type: list
    elements: str
    default: []
  metadata_dir:
    description: The directory of the metadata log (C(metadata.log.dir)); the first of O(log_dirs) when empty.
    type: str
    default: ""
  watch_quorum:
    description:
      - Whether to tell, of a controller, that its quorum has no stable leader. Where its process runs for longer than
        20 seconds and leader or epoch changed in the last 10, this watches for 12 seconds at most.
    type: bool
    default: false
  log_dir:
    description:
      - The directory of the logs of a controller, whose newest lines are read for unclean elections of leaders. Empty
        text reads none.
    type: str
    default: ""
  login_log:
    description: The log of the mechanisms that clients log in by, for RV(logins).
    type: str
    default: ""
  state_dir:
    description: The directory that holds the start record, C(started/).
    type: str
    default: ""
  config_file:
    description:
      - The properties file as it is given to C(kafka.Kafka). With it, a process that something else started (without a
        start record) is found too.
    type: str
    default: ""
  jvm_file:
    description:
      - The java argument file that the node would be started with; read for RV(version) where there is no start record.
    type: str
    default: ""
  config_dir:
    description:
      - The directory of its configuration, for RV(start_files).
    type: str
    default: ""
  adopted_file:
    description:
      - The file that says who ran the node before it was taken over (M(streamops.kafka.adopted_node)). With it the
        process of the old service is found too.
    type: str
    default: ""
  claim:
    description:
      - What a run would write there, as M(streamops.kafka.adopted_node) takes it; it counts as written. For check mode.
    type: dict
  wanted:
    description:
      - What the node should have been started with; what is left out is not compared.
    type: dict
    suboptions:
      properties:
        description: The properties; give them through P(streamops.kafka.declared#filter), so that no secret is passed.
        type: dict
      jvm:
        description: The lines of the java argument file, in order.
        type: list
        elements: str
      files:
        description: Watched files, path to SHA-256. An empty SHA-256 means the file as it is on the disk now.
        type: dict
      limits:
        description:
          - What the service should give the process, such as C(kafka_limit_nofile). One that the record does not name
            is not compared.
        type: dict
  ports:
    description: TCP ports whose listener is looked for.
    type: list
    elements: int
    default: []
  names:
    description: Names of other nodes; how this host resolves them is looked up.
    type: list
    elements: str
    default: []
  release_dir:
    description: The directory of the release that should be installed.
    type: str
    default: ""
  certificate_files:
    description: Stores in PEM form, whose certificates are read. A key in them is not returned.
    type: list
    elements: str
    default: []
  trace_files:
    description: Files outside of the data directories that are there, and not empty, once the node has had data.
    type: list
    elements: str
    default: []
  beside:
    description:
      - The node's own files, beside which the files of other nodes are looked for; nothing is looked for without it.
      - Data is looked for beside O(log_dirs) and O(metadata_dir). Only one level is read.
    type: dict
    suboptions:
      note_file:
        description: The note in its configuration directory that it has had data.
        type: str
        required: true
      service_file:
        description: The file of its systemd unit or of its program of supervisord.
        type: str
        required: true
  clock:
    description: Whether to read the clock of the host too.
    type: bool
    default: false
  issuer:
    description:
      - Whose tokens the broker takes. With O(clock) its keys are fetched as the broker fetches them when it starts.
    type: dict
    suboptions:
      jwks_url:
        description: Where its keys are.
        type: str
        required: true
      ca:
        description: The CAs that its certificate must lead to, in PEM form; those of the machine without it.
        type: str
        default: ""
      clock_skew:
        description: Seconds by which its clock may differ from that of the host.
        type: int
        default: 30
  keytab:
    description: The keytab of a broker that lets clients in by Kerberos; nothing is read without it.
    type: dict
    suboptions:
      path:
        description: Where it is.
        type: str
        required: true
      user:
        description: The user of the service; whoever runs the module without it.
        type: str
        default: ""
      principals:
        description: Whose keys must be in it.
        type: list
        elements: str
        required: true
      copied:
        description: The newest version (kvno) in the keytab that is copied there; nothing is copied without it.
        type: int
  network_seconds:
    description: How long to measure what the network interfaces carry; 0 measures nothing.
    type: float
    default: 0
"""

EXAMPLES = r"""
- name: Read the state of a node
  streamops.kafka.node_info:
    log_dirs: [/var/lib/kafka/kafka1]
    state_dir: /run/kafka/kafka1
    ports: [9092, 9093]
"""

RETURN = r"""
disks:
  description:
    - One entry for each data directory, and for the metadata directory where it is none of them. Each has C(path),
      C(metadata) (whether it holds the metadata log) and C(logs) (whether it is one of O(log_dirs)).
    - C(exists), C(empty), C(lost_and_found) (C(lost+found) is in it, as in the root of a file system, and counts as
      nothing) and C(entries), the first names in it.
    - C(meta_properties) is the content of C(meta.properties), null when it is not formatted. C(quorum_state) says that
      a node has started here (C(__cluster_metadata-0/quorum-state) exists), C(started) that it holds anything that
      formatting does not write, C(cut_format) that it holds only what an interrupted format leaves, C(served) that a
      server of ZooKeeper has served with the data in it, in a quorum or alone.
    - Of its file system, or of the one that would hold it, C(free_bytes), C(total_bytes), C(free_inodes) (null where it
      sets no limit), C(mount) (where it is mounted), C(device) (the same number for directories that share it) and
      C(read_only).
    - C(error) says why it could not be read; null when it could.
  returned: always
  type: list
  elements: dict
quorum:
  description:
    - What the metadata log on the disk says about the quorum, null where there is none. C(leader) is the id that the
      node last knew (null for none), C(epoch) its epoch, C(records) whether an elected leader has written anything,
      C(changed_at) when leader, epoch or vote changed last (seconds since 1970).
    - C(static) is true where the node wrote this for voters that stand in its configuration (kraft.version 0), false
      for those of the metadata log, null where it does not tell.
    - With O(watch_quorum) also C(unsteady), whether two more epochs began while it was watched, or it never had a
      leader meanwhile, and the C(first_epoch) and C(last_epoch) that were seen.
  returned: always
  type: dict
unclean_elections:
  description:
    - With O(log_dir) the partitions that a replica came to lead which was not in sync, as the controller logged it
      within seven days, by time, as C(partition), C(at) (seconds since 1970), C(when) (the same as text, in UTC),
      C(leader) and its C(epoch). Of ZooKeeper mode nothing is known.
  returned: always
  type: list
  elements: dict
process:
  description:
    - C(running), C(pid), C(since) (seconds since 1970), C(start_time) (clock ticks since boot) and C(recorded), whether
      the start record is that of this process.
  returned: always
  type: dict
adopted:
  description:
    - Who ran the node before it was taken over, by O(adopted_file); null where nothing else ran it.
    - C(phase) is V(claimed) (a run is to take it over), V(taken) (it was taken over) or V(returned) (the old service is
      to run it), C(runs) who runs it now (V(old), V(ours) or V(nobody)), C(service) who ran it, in words, with
      C(manager), C(name), C(version) of its release and C(logs_dir).
  returned: always
  type: dict
needs_start:
  description: Whether no process of this node runs.
  returned: always
  type: bool
restart_reasons:
  description:
    - Why the running process must be replaced. Each has C(kind) (property, jvm, file, limit or record), C(name),
      C(from) and C(to). Empty when it does not run. Secrets are named, their values never shown.
  returned: always
  type: list
  elements: dict
live_properties:
  description:
    - Properties that Kafka takes without a restart. Each with the value that a dynamic override must have until the
      next start, or null where the process was started with the wanted value and no override is needed.
  returned: always
  type: dict
ports:
  description: For each port null, or C(pid) (null when this user cannot see it), C(command), C(ours) and C(note).
  returned: always
  type: dict
names:
  description: The addresses of each of O(names); an empty list for a name that this host cannot resolve.
  returned: always
  type: dict
java:
  description: C(path), C(version) (the major number, null when unknown), C(full) and C(error) (null when it works).
  returned: always
  type: dict
system:
  description:
    - C(name) is what the system of the host calls itself (os-release), C(java_package) the package that brings Java
      there, empty for a system of which this collection does not know it.
    - C(selinux) is V(enforcing), V(permissive) or V(disabled), C(config_type) the SELinux type that new files in
      O(config_dir) get, empty where none is known.
  returned: always
  type: dict
clock:
  description:
    - With O(clock) how far the clock of the host is from that of the control node, and whether something keeps it
      right; else null. The host is asked three times for its time (C(date)), and the answer that took shortest counts.
    - C(offset) is the seconds that the host is ahead, negative when behind, C(uncertainty) how far that may be wrong in
      either direction, half of the time that the question took; both are null where the time could not be read.
    - C(synchronized) is whether the kernel knows that its clock follows a source (adjtimex(2), what C(timedatectl)
      shows), null when it does not tell, C(service) the first time service that runs there, empty when none is seen (in
      a container the host may have one), C(problem) why something is not known, empty when all is.
  returned: always
  type: dict
issuer:
  description:
    - With O(issuer) and O(clock) what the issuer of tokens answered, else null.
    - C(problem) says why a broker would get no key, empty where it gets one, C(keys) how many keys verify signatures,
      C(behind) the seconds that its clock is behind that of the host, negative when ahead and null where it does not
      say, C(clock_skew) how many are allowed.
  returned: always
  type: dict
network:
  description:
    - The busiest network interface but the loopback, with C(interface), C(received_bytes_per_second) and
      C(sent_bytes_per_second); null without O(network_seconds), and where the kernel tells nothing.
  returned: always
  type: dict
certificate_files:
  description:
    - For each of O(certificate_files) C(exists), C(certificates) (in PEM form), C(sha256) of the file, C(started), the
      digest of the file that the running process was started with (empty when without it, null when no process runs
      that says so), and C(error), null when it could be read.
  returned: always
  type: dict
keytab:
  description:
    - With O(keytab) C(path), C(problem), which says why nobody is let in with it (empty where it fits), C(is_open),
      whether others than its owner and group may read it, C(version), the newest version (kvno) of the first principal,
      0 without any, and C(copied) as given; else null. Keys are never returned.
  returned: always
  type: dict
unreadable_files:
  description: Watched files that this user may not read; they count as unchanged.
  returned: always
  type: list
  elements: str
traces:
  description:
    - Those of O(trace_files) that are there and not empty, or cannot be looked at. With empty data directories they say
      that disks are not mounted, or that data is gone.
  returned: always
  type: list
  elements: str
beside:
  description:
    - What other nodes have left on the machine, found by O(beside). Each has C(kind) (note, service or data), C(path)
      and C(name), the host that it was installed for; as far as its content says so C(product) (kafka, zookeeper or
      mirror), C(node_id), C(cluster), C(cluster_id) and C(config_dir), else null.
  returned: always
  type: list
  elements: dict
installed_as:
  description:
    - Who the node was installed as, by the note or the service file of O(beside) - C(path) of that file, C(product),
      C(node_id) and C(cluster), the name of its cluster. Null without such a file.
  returned: always
  type: dict
advertised:
  description:
    - Where the running process advertises its listeners, as C(host:port) by the name of the listener, by its start
      record; empty where it does not run, and of a node that is not of Kafka.
  returned: always
  type: dict
  sample: {BROKER: "kafka1.example.com:9094", CLIENT: "kafka1.example.com:9092"}
mechanisms:
  description:
    - The SASL mechanisms that each listener of the running process offers, by the name of the listener in small letters
      and by its start record; empty where it does not run.
  returned: always
  type: dict
  sample: {client: [SCRAM-SHA-512, OAUTHBEARER]}
logins:
  description:
    - How many logins of clients began since the process started, as O(login_log) has them; null without such a log.
      Wrong passwords are counted too, and who logs in again on an open connection.
    - Each has C(listener), C(mechanism), C(count), and C(first) and C(last) in seconds since 1970. What was logged
      before the first of all is not known.
  returned: always
  type: list
  elements: dict
  sample: [{listener: CLIENT, mechanism: SCRAM-SHA-512, count: 12, first: 1790000000, last: 1790003600}]
looked_at:
  description: When all this was read, in seconds since 1970 by the clock of the host.
  returned: always
  type: float
  sample: 1790003600.25
copies:
  description:
    - The properties of its last start that say how many copies Kafka makes by itself, and how many must be in sync;
      empty where the node has no start record.
  returned: always
  type: dict
  sample: {default.replication.factor: "3", min.insync.replicas: "2"}
migrates:
  description:
    - Whether the node was last started with the flag of a migration from ZooKeeper to KRaft
      (C(zookeeper.metadata.migration.enable)), by its start record.
  returned: always
  type: bool
version:
  description:
    - The version of the release that the node was last started with, by its start record; without one that of
      O(jvm_file), null where neither is there.
  returned: always
  type: str
  sample: 4.3.1
start_files:
  description:
    - What M(streamops.kafka.node_generation) keeps in O(config_dir); null without it. The names of its generations,
      null where there is none, are C(current) (what the node starts with), C(staged) (waits for its turn), C(proven)
      (with which it has last been whole, to which it goes back), C(earlier) (was proven before that) and C(failed) (did
      not come back; null once a run wanted others).
    - C(failed_release) is the version of the release that the failed one starts, null without it, and C(why_failed)
      why it failed, empty where none did. C(switched_at) is when the node was switched to what it starts with, and
      C(proven_at) when the proven one was first proven, in seconds since 1970, null where that is not known.
    - C(last_change) compares what the node starts with and what it was whole with before, null where there is only one.
      C(since) is the name of the generation in use (its UTC time), C(changes) has a line for each property and each
      other file, without secrets, C(same_release) says whether both start the same version.
    - C(edited) has the names of files in use that differ from what was written there, or are gone.
  returned: always
  type: dict
installed:
  description: Whether the release is there, with its manifest, which is written last, and each file that it names.
  returned: always
  type: bool
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core.module import options_of, run_module
from ..module_utils._node.info import LOOK, node_info
from ..module_utils._node.issuer import ask_issuer
from ..module_utils._node.keytab_look import look_at_keytab

SPEC = {"node": {"type": "dict", "default": {}}, **LOOK}


def look(module: AnsibleModule) -> dict[str, object]:
    """Return what is there, by the options of the module."""
    options = module.params
    node = options_of(LOOK, "node", options["node"])
    wanted = {**options, **{key: node[key] for key in options["node"]}}
    issuer = ask_issuer(**wanted["issuer"]) if wanted["issuer"] and wanted["clock"] else None
    keytab = look_at_keytab(**wanted["keytab"]) if wanted["keytab"] else None
    return {"changed": False, **node_info(wanted), "issuer": issuer, "keytab": keytab}


def main() -> None:
    """Run the module."""
    run_module(SPEC, look)


if __name__ == "__main__":
    main()
