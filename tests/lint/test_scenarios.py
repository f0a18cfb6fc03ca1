"""The scenarios of molecule/, as far as files tell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.support.cluster import JVM_OPTIONS, ROOT

SCENARIOS = sorted((ROOT / "molecule").glob("*/molecule.yml"))


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.parent.name)
def test_no_machine_is_named_like_the_beginning_of_a_container_id(path: Path) -> None:
    """Docker takes a name that no container has for such a beginning: b3 was looked for and another machine found."""
    names = [platform["name"] for platform in yaml.safe_load(path.read_text())["platforms"]]
    assert names
    assert [name for name in names if re.fullmatch(r"[0-9a-f]+", name)] == []


def test_nodes_of_scenarios_are_started_as_those_of_the_other_tests() -> None:
    shared = yaml.safe_load((ROOT / ".config/molecule/config.yml").read_text())
    assert shared["provisioner"]["inventory"]["group_vars"]["all"]["kafka_jvm_options"] == JVM_OPTIONS
