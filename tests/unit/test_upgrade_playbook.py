"""What upgrade.yml runs: the nodes or the features by a word of the command line, and a proof of each roll."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2.nativetypes import NativeEnvironment

PLAYBOOKS = Path(__file__).resolve().parents[2] / "playbooks"
IMPORT = "ansible.builtin.import_playbook"


def plays(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load((PLAYBOOKS / name).read_text()))


def rendered(template: str, **variables: Any) -> Any:
    return NativeEnvironment().from_string(template).render(variables)


@pytest.mark.parametrize(
    ("given", "playbook"),
    [
        ({}, "_upgrade_nodes.yml"),
        ({"kafka_upgrade": "binaries"}, "_upgrade_nodes.yml"),
        ({"kafka_upgrade": "back"}, "_upgrade_nodes.yml"),
        ({"kafka_upgrade": "finalize"}, "_upgrade_features.yml"),
    ],
)
def test_the_command_line_says_which_part_runs(given: dict[str, str], playbook: str) -> None:
    (template,) = [one[IMPORT] for one in plays("upgrade.yml") if "{{" in one.get(IMPORT, "")]
    assert rendered(template, **given) == playbook


def test_features_come_without_the_roll() -> None:
    imported = [one[IMPORT] for one in plays("_upgrade_features.yml") if IMPORT in one]
    assert imported == ["_unlock.yml"]


@pytest.mark.parametrize(("brokers", "proven"), [(["b1"], False), (["b1", "b2"], True), (["b1", "b2", "b3"], True)])
def test_a_roll_is_proven_unless_its_topic_would_hold_a_single_broker_back(brokers: list[str], proven: bool) -> None:
    (site,) = [one for one in plays("_upgrade_nodes.yml") if one.get(IMPORT) == "site.yml"]
    assert rendered(site["vars"]["kafka_prove"], groups={"kafka_brokers": brokers}) is proven
