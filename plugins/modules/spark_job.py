#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module: one look at a Spark job, or its start or stop; the action of the same name repeats it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: spark_job
short_description: Run a Spark job that proves a Kafka cluster or a mirror
version_added: 0.1.0
author: The streamops engineers (@streamops)
description:
  - Submits a job of the Python package C(spark_validation) with C(spark-submit), shows its progress live, and fails
    when its verdict is not V(pass).
  - The job runs detached in a directory of its own, which afterwards holds C(result.json), C(report.html),
    C(ledger.json), C(progress.jsonl) and C(spark.log). When the time is over, its own process group is ended, and
    nothing else.
  - A job that no run watches any more, since that was interrupted or its control node is gone, ends by itself after
    60 seconds.
  - Files that client properties name on this host (C(ssl.truststore.location)) travel with the job to other machines.
  - Client properties reach the job through a named pipe that only its user may read, never on a command line or in a
    file of a disk.
extends_documentation_fragment: [streamops.kafka._attributes]
attributes:
  check_mode:
    support: none
    details: The task is skipped and says so.
  diff_mode:
    support: N/A
  idempotent:
    support: N/A
    details: Each run is a new proof; it reports no change, since the records go to a topic made for them.
options:
  job:
    description: >-
      The job. V(smoke) writes records and audits them; V(mirror_audit) compares a mirror with its source; V(proof)
      reads the topic of a proof and counts what is there. The last two write nothing.
    type: str
    choices: [smoke, mirror_audit, proof]
    default: smoke
  output_dir:
    description: >-
      Holds a directory for each run, named by its id; the link C(latest) in it points to the last one.
    type: path
    required: true
  run_id:
    description: The name of the run, up to 32 letters, digits, dots, dashes or underscores; drawn by default.
    type: str
  audit_run_id:
    description: >-
      Audit this earlier run of O(output_dir) again by its ledger. Nothing is written to the cluster. Only for
      O(job=smoke).
    type: str
  job_dir:
    description: The directory of this run; set by the action itself.
    type: path
  package:
    description: The directory of the package C(spark_validation) on the host.
    type: path
    required: true
  arguments:
    description: >-
      Arguments of the job; see docs/spark-validation.md and docs/mirror-audit.md. C(run_id), C(mode), C(output_dir),
      C(ledger_file) and C(kafka) (of V(mirror_audit), those of C(source) and C(target)) are set from the options of
      this module.
    type: dict
    default: {}
  client_properties:
    description: >-
      Native Kafka client properties, for example V(security.protocol), of the target for O(job=mirror_audit). Secrets
      among them are kept secret.
    type: dict
    default: {}
  source_client_properties:
    description: The same of the source; only for O(job=mirror_audit).
    type: dict
    default: {}
  secret_properties:
    description: The secret ones among O(client_properties); set by the action itself.
    type: dict
  source_secret_properties:
    description: The secret ones among O(source_client_properties); set by the action itself.
    type: dict
  master:
    description: A master that C(spark-submit) takes.
    type: str
    default: local[2]
  deploy_mode:
    description: >-
      Where the driver runs. V(client) on this host, which all executors must reach; V(cluster) on a machine that YARN
      or Kubernetes chooses (the second is not tested). A standalone master runs no Python driver in cluster mode.
    type: str
    choices: [client, cluster]
    default: client
  shared_dir:
    description: >-
      URI of a directory that this host and the driver both reach and may write to, for example
      V(hdfs:///tmp/streamops), by which result, report and progress come back; needed for O(deploy_mode=cluster). Each
      run has a directory of its own in it, and removes that at its end.
    type: str
  krb5_file:
    description: >-
      A C(krb5.conf) that the driver reads where it runs on this host; other machines read their C(/etc/krb5.conf).
    type: path
  hadoop_conf_dir:
    description: The directory with C(core-site.xml) and C(yarn-site.xml) of the Hadoop cluster, for master V(yarn).
    type: path
  python:
    description: The Python with PySpark on this host.
    type: path
    required: true
  worker_python:
    description: >-
      The same on the workers, and for the driver with O(deploy_mode=cluster); by default the path of O(python).
    type: path
  spark_submit:
    description: The command.
    type: path
    required: true
  java_home:
    description: JAVA_HOME of Spark, when C(java) on the path is not the right one.
    type: path
  jars:
    description: Jars given to Spark, those of the Kafka connector.
    type: list
    elements: path
    default: []
  conf:
    description: Spark's own settings.
    type: dict
    default: {}
  timeout:
    description:
      - Seconds without progress after which the job is ended and the task fails. Progress is another phase, or more
        that is done in one. It lasts no longer than 60 times that in all.
    type: int
    default: 900
  interval:
    description: Seconds between two lines of progress.
    type: float
    default: 2.0
  step:
    description: What this one call does; set by the action itself.
    type: str
    choices: [start, observe, stop]
    default: observe
  offset:
    description: The byte of the progress file to read from; set by the action itself.
    type: int
    default: 0
"""

EXAMPLES = r"""
- name: Write 100,000 records to a cluster and audit them
  streamops.kafka.spark_job:
    output_dir: /var/lib/streamops/reports
    package: /opt/streamops/spark_validation
    python: /opt/streamops/venv/bin/python
    spark_submit: /opt/streamops/venv/bin/spark-submit
    arguments: {bootstrap_servers: ["kafka1.example.com:9092"], records: 100000}
"""

RETURN = r"""
verdict:
  description: pass, fail, inconclusive or error; null when the job left no result.
  returned: when the job ran
  type: str
  sample: pass
exit_code:
  description: What the job ended with, 0 pass, 1 findings or not judgeable, 2 could not run; null after a timeout.
  returned: when the job ran
  type: int
result:
  description: >-
    The summary of result.json with run_id, verdict, message, findings, covered (what was compared and what was left
    out, in sentences), seconds, checks and headline figures (of O(job=proof) also C(figures.proof), the counts by
    partition and kind); of a job that failed only the checks that did not pass.
  returned: when the job left a result
  type: dict
report:
  description: The path of report.html on the host.
  returned: when the job ran
  type: str
log_tail:
  description: The last lines of the job's log.
  returned: when the job left no result
  type: list
  elements: str
elapsed:
  description: Seconds that the task watched.
  returned: when the job ran
  type: float
history:
  description: What each look found.
  returned: when the verdict is pass
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core.errors import errors_reported
from ..module_utils._spark import run
from ..module_utils._spark.job import WATCH_OPTIONS

SPEC = dict(
    WATCH_OPTIONS,
    job_dir={"type": "path"},
    package={"type": "path", "required": True},
    secret_properties={"type": "dict", "no_log": True},
    source_secret_properties={"type": "dict", "no_log": True},
    master={"type": "str", "default": "local[2]"},
    deploy_mode={"type": "str", "choices": ["client", "cluster"], "default": "client"},
    shared_dir={"type": "str"},
    krb5_file={"type": "path"},
    hadoop_conf_dir={"type": "path"},
    python={"type": "path", "required": True},
    worker_python={"type": "path"},
    spark_submit={"type": "path", "required": True},
    java_home={"type": "path"},
    jars={"type": "list", "elements": "path", "default": []},
    conf={"type": "dict", "default": {}},
    step={"type": "str", "choices": ["start", "observe", "stop"], "default": "observe"},
    offset={"type": "int", "default": 0},
)


def main() -> None:
    """Do one step."""
    module = AnsibleModule(argument_spec=SPEC, supports_check_mode=False)
    params = module.params
    with errors_reported(module):
        if params["step"] == "start":
            found = run.start(params)
        elif params["step"] == "stop":
            found = run.stop(params["job_dir"])
        else:
            found = run.observe(params["job_dir"], params["offset"], params["interval"])
        module.exit_json(changed=False, **found)


if __name__ == "__main__":
    main()
