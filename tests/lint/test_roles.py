"""Rules that every role keeps, read from the files themselves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import is_secret

ROOT = Path(__file__).resolve().parents[2]
ROLES = sorted(path for path in (ROOT / "roles").iterdir() if path.is_dir())
TASK_FILES = sorted((ROOT / "roles").glob("*/tasks/**/*.yml"))

# What these modules do is not seen in their name; they may say that nothing changed, each for the reason given.
READS_ONLY = {
    "Errors | Read the log of each mirror": "grep reads a log",
    "Service | Read the last lines of the log": "journalctl or tail reads a log",
    "Candidate | Check each part with its program": "promtool and amtool only check files",
    "Configure | Compare with what is there": "check mode writes nothing",
    "Start | Compare with what each was started with and has read": "check mode writes nothing",
    "Start | Read the last lines of the log": "journalctl or tail reads a log",
    "Canary start | Read the last lines of the log": "journalctl or tail reads the end of a log",
    "TLS issue | Create the signing request": "a request that stays in memory",
    "TLS CA | Create the signing request of the CA": "a request that stays in memory",
    "Service | Import the package gssapi": "Python imports a package and ends",
    "Supervisor machine | Ask whether supervisord runs": "supervisorctl pid only answers a question",
    "Stop machine | List the programs of supervisord": "supervisorctl status only answers a question",
    "Supervisor | Wait until supervisord has the request": "supervisorctl status only answers a question",
    "Restart reasons | Schedule the restart": "group_by changes the run, not a host",
    "Give back | Schedule the node": "group_by changes the run, not a host",
    "Roll | Record a node that has restarted meanwhile": "group_by changes the run, not a host",
    "Roll | Record a node whose turn was foreseen": "group_by changes the run, not a host",
    "Blame | Schedule the node that is at fault to go back": "add_host changes the run, not a host",
    "Roll | Record the restart": "group_by changes the run, not a host",
    "Sick | Schedule unhealthy brokers to restart first": "group_by changes the run, not a host",
    "Voters | Record that this controller comes": "a group of this run",
    "Voters | Record that the quorum becomes dynamic": "a group of this run",
    "Voters | Record that this controller goes": "a group of this run",
    "Plan members | Record in which steps this server is a member": "group_by changes the run, not a host",
    "Plan members | Record before which step this server stops": "group_by changes the run, not a host",
    "Plan members | Record that this server stays": "group_by changes the run, not a host",
    "Upgrade features | Validate the feature levels with the cluster": "check mode changes nothing",
    "Voters | Validate a dynamic quorum with the cluster": "check mode changes nothing",
}

#: Variables of roles that hold secrets under a name that does not say so.
SECRETS_BESIDE = {
    "kafka_monitoring": {
        "kafka_monitoring_receivers",
        "kafka_monitoring_scrape_configs",
        "kafka_monitoring_web_config",
    },
    "kafka_page": {"kafka_page_users"},
}


def tasks_of(tasks: Any) -> Iterator[dict[str, Any]]:
    """Every task of a file, those inside blocks too."""
    for task in tasks or []:
        yield task
        for part in ("block", "rescue", "always"):
            yield from tasks_of(task.get(part))


@cache
def load(path: Path) -> Any:
    """A YAML file, read once for all tests, which change nothing in it; Ansible's own tags are not used here."""
    return yaml.safe_load(path.read_text())


def options_of(role: Path) -> dict[str, Any]:
    """The options of all entry points of a role."""
    specification = load(role / "meta" / "argument_specs.yml")["argument_specs"]
    return {name: option for entry in specification.values() for name, option in entry.get("options", {}).items()}


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_a_required_variable_has_no_default(role: Path) -> None:
    options = options_of(role)
    assert [name for name, option in options.items() if option.get("required") and "default" in option] == []


def secrets_of(options: dict[str, Any], beside: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The options and suboptions that hold a secret by their name, or by the given names."""
    for name, option in options.items():
        # Of a mapping with options of its own, each of these is judged by itself; a file is a path, a choice is a word.
        is_value = option["type"] == "str" and "choices" not in option and not name.endswith("_file")
        if name in beside or (is_secret(name) and is_value):
            yield name, option
        yield from secrets_of(option.get("options") or {}, beside)


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_secrets_are_never_logged(role: Path) -> None:
    beside = SECRETS_BESIDE.get(role.name, set())
    found = list(secrets_of(options_of(role), beside))
    assert [name for name, option in found if option.get("no_log") is not True] == []
    assert beside <= {name for name, _option in found}


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_variables_carry_the_prefix_of_the_role_or_of_the_cluster(role: Path) -> None:
    # The role that submits Spark jobs has one prefix for each entry point.
    common = ("kafka_", "zookeeper_", "mirror_", "streamops_")
    more = {"_common": common, "spark_validation": ("spark_validation_", "mirror_audit_")}
    prefixes = more.get(role.name, (f"{role.name}_",))
    for name in load(role / "defaults" / "main.yml") or {}:
        assert name.startswith(prefixes), f"{role.name}: {name} starts with none of {prefixes}"
    for name in (name for path in role.glob("vars/**/*.yml") for name in load(path) or {}):
        assert name.startswith("_"), f"{role.name}: {name} in vars/ is derived and starts with an underscore"


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_a_role_has_a_page_and_metadata(role: Path) -> None:
    assert (role / "README.md").is_file()
    assert load(role / "meta" / "main.yml")["galaxy_info"]["license"] == "GPL-3.0-or-later"


@pytest.mark.parametrize("path", TASK_FILES, ids=lambda path: str(path.relative_to(ROOT / "roles")))
def test_no_task_that_changes_something_says_that_it_does_not(path: Path) -> None:
    for task in tasks_of(load(path)):
        if task.get("changed_when") is False:
            assert task["name"] in READS_ONLY, f"{path.name}: '{task['name']}' hides its changes"


@pytest.mark.parametrize("path", TASK_FILES, ids=lambda path: str(path.relative_to(ROOT / "roles")))
def test_tasks_have_names(path: Path) -> None:
    for task in tasks_of(load(path)):
        assert task.get("name"), f"{path}: a task has no name: {sorted(task)}"


def test_roles_name_no_inventory_group() -> None:
    for path in [*TASK_FILES, *ROOT.glob("roles/*/vars/**/*.yml"), *ROOT.glob("roles/*/templates/*")]:
        for group in ("kafka_brokers", "kraft_controllers", "mirror_makers", "zookeeper"):
            assert f"groups['{group}']" not in path.read_text(), f"{path} names the group {group}; use its variable"


def test_the_collection_links_point_into_this_checkout() -> None:
    links = ROOT / "collections" / "ansible_collections" / "streamops" / "kafka"
    assert {link.name for link in links.iterdir()} == {
        "awx",
        "extensions",
        "galaxy.yml",
        "meta",
        "page",
        "playbooks",
        "plugins",
        "roles",
        "spark_validation",
    }
    for link in links.iterdir():
        assert link.is_symlink()
        assert not Path(link.readlink()).is_absolute()
        assert link.resolve() == ROOT / link.name
