# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a cluster is proven, and how: its brokers say so, whoever of it restarts first."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from tests.support.cluster import ROOT

VARIABLES = yaml.safe_load((ROOT / "roles" / "_common" / "vars" / "main" / "prove.yml").read_text())
DEFAULTS = {
    "kafka_prove_topic": "__streamops_prove",
    "kafka_prove_rate": 100,
    "kafka_prove_seconds": 3600,
    "kafka_prove_keep_topic": False,
    "kafka_prove_spark": False,
    "kafka_prove_report_dir": "/proofs",
}
#: A process of its own, since filters of collections need Ansible's loader, which stays once it is there.
TEMPLATE = """
import json, sys
from ansible.plugins.loader import init_plugin_loader
init_plugin_loader([sys.argv[1]])
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template
def trusted(value):
    each = isinstance(value, dict)
    return {key: trusted(one) for key, one in value.items()} if each else trust_as_template(str(value))
given = json.load(sys.stdin)
known = {**{name: trusted(value) for name, value in given["role"].items()}, **given["known"]}
print(json.dumps(Templar(loader=DataLoader(), variables=known).template(trust_as_template(given["asked"]))))
"""


def templated(name: str, brokers: Mapping[str, Mapping[str, Any]], provers: list[str], kafka: bool = True) -> Any:
    """A variable of the role on a controller whose cluster has these brokers, with what the inventory sets for each.

    C(provers): those that want a proof, as the model says. C(kafka): whether the host runs Kafka.
    """
    known = {
        **DEFAULTS,
        "inventory_hostname": "controller1",
        "_model": {"provers": provers},
        "_kafka_is_broker": False,
        "_kafka_is_controller": kafka,
        "hostvars": {"controller1": {}, **brokers},
    }
    command = [sys.executable, "-c", TEMPLATE, str(ROOT / "collections")]
    asked = json.dumps({"role": VARIABLES, "known": known, "asked": f"{{{{ {name} }}}}"})
    done = subprocess.run(command, check=True, capture_output=True, text=True, input=asked, timeout=60)
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("provers", "kafka", "wanted"),
    [([], True, False), (["broker2"], True, True), (["broker1", "broker2"], True, True), (["broker2"], False, False)],
)
def test_a_node_of_kafka_restarts_with_a_proof_where_a_broker_of_its_cluster_wants_one(
    provers: list[str], kafka: bool, wanted: bool
) -> None:
    assert templated("_common_is_proven", {"broker1": {}, "broker2": {}}, provers, kafka) is wanted


def test_how_is_what_the_broker_says_that_wants_it() -> None:
    brokers = {"broker1": {"kafka_prove_rate": 7}, "broker2": {"kafka_prove": "true", "kafka_prove_rate": "200"}}
    found = templated("_common_proof_settings", brokers, ["broker2"])
    assert (found["topic"], found["seconds"], str(found["rate"])) == ("__streamops_prove", 3600, "200")
    assert found["keep_topic"] is False
    assert found["report_dir"] == "/proofs"
