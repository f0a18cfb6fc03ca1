# SPDX-License-Identifier: GPL-3.0-or-later
"""What Ansible's main process loads before it forks, and the filter that makes it do so."""

from __future__ import annotations

import subprocess
import sys

from tests.support.cluster import ROOT

LOADED = """
import sys
from ansible.plugins.loader import init_plugin_loader, lookup_loader
init_plugin_loader([{collections!r}])
from ansible.template import Templar, trust_as_template
from ansible.parsing.dataloader import DataLoader
groups = {{"kafka_brokers": ["a"], "zookeeper": [], "other": ["b"]}}
templar = Templar(loader=DataLoader(), variables={{"groups": groups}})
room = "ansible_collections.streamops.kafka.plugins."
assert room + "plugin_utils.render.view" not in sys.modules
names = "['zookeeper', 'kafka_brokers', 'mirror_makers']"
print(templar.template(trust_as_template("{{{{ " + names + " | streamops.kafka.present(groups) }}}}")))
for name in ("plugin_utils.render.view", "plugin_utils.render.node_run", "lookup.model"):
    assert room + name in sys.modules, name
from ansible import constants
assert constants.config.has_configuration_definition("lookup", room + "lookup.model")
"""


def test_the_hosts_of_the_first_play_load_what_tasks_need_and_the_documentation_is_parsed_once() -> None:
    code = LOADED.format(collections=str(ROOT / "collections"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip() == "['kafka_brokers']"
