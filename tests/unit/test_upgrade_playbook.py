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


def proven(host: str, clusters: dict[str, str | None]) -> Any:
    """Whether an upgrade proves the cluster of a host by itself; C(clusters) names that of each broker of the run."""
    (site,) = [one for one in plays("_upgrade_nodes.yml") if one.get(IMPORT) == "site.yml"]
    hostvars = {name: {"kafka_cluster_name": cluster} if cluster else {} for name, cluster in clusters.items()}
    hostvars.setdefault(host, {"kafka_cluster_name": "one"})
    return templated(site["vars"]["kafka_prove"], groups={"kafka_brokers": [*clusters]}, hostvars=hostvars, host=host)


def templated(template: str, host: str, hostvars: dict[str, dict[str, Any]], **variables: Any) -> Any:
    """Render as Ansible does for a task of a host, whose filter C(extract) Jinja lacks."""
    known = NativeEnvironment()
    known.filters["extract"] = lambda item, container: container[item]
    return known.from_string(template).render(variables, hostvars=hostvars, **hostvars[host])


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("name", ["one", None])
def test_a_roll_is_proven_where_the_cluster_has_two_brokers_or_more(count: int, name: str | None) -> None:
    assert proven("b1", {f"b{number}": name for number in range(1, count + 1)}) is True


def test_a_single_broker_is_not_proven_since_it_is_down_while_it_restarts() -> None:
    assert proven("b1", {"b1": "one"}) is False
    assert proven("b1", {"b1": None}) is False


def test_each_cluster_of_a_run_is_judged_by_its_own_brokers() -> None:
    clusters: dict[str, str | None] = {"b1": "one", "b2": "two", "b3": "two", "b4": "three"}
    found = {host: proven(host, clusters) for host in clusters}
    assert found == {"b1": False, "b2": True, "b3": True, "b4": False}
    assert proven("controller", {"b1": "one", "b2": "one"}) is True


def test_the_plan_is_made_by_the_same_word_as_the_roll() -> None:
    judge, site = plays("_upgrade_nodes.yml")
    assert judge["vars"]["kafka_prove"] == site["vars"]["kafka_prove"]
