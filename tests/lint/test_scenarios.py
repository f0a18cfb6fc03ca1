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


def test_each_login_of_the_secured_scenario_has_its_variables() -> None:
    """A group that no variable is written for would leave every user without a login."""
    scenario = yaml.safe_load((ROOT / "molecule/secure/molecule.yml").read_text())
    variables = scenario["provisioner"]["inventory"]["group_vars"]
    allowed = re.search(r"case \$\{STREAMOPS_LOGIN:-scram\} in\n  ([a-z| ]+)\)", (ROOT / "test").read_text())
    assert allowed
    for login in allowed[1].split(" | "):
        assert variables[login]["molecule_login"] == login
    assert all("${STREAMOPS_LOGIN:-scram}" in platform["groups"] for platform in scenario["platforms"])
