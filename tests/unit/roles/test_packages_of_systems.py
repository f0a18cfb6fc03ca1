# SPDX-License-Identifier: GPL-3.0-or-later
"""What installs packages by the names of Debian is refused on another system, before anything is changed."""

from __future__ import annotations

from typing import Any

import jinja2
import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.module_utils._node.system import JAVA_PACKAGES
from tests.support.cluster import ROOT

#: The file of tasks that is first in a run, and the variable with the packages.
GUARDS = {
    "roles/kafka_page/tasks/guards.yml": "kafka_page_packages",
    "roles/mirror_maker/tasks/canary_first.yml": "mirror_maker_canary_packages",
}
DEFAULT = ["python3-venv", "python3-packaging"]


def guard(path: str) -> dict[str, Any]:
    """Return the task that refuses packages of Debian."""
    tasks = yaml.safe_load((ROOT / path).read_text())
    (task,) = [one for one in tasks if "packages of Debian" in one["name"]]
    return dict(task["ansible.builtin.assert"])


@pytest.mark.parametrize("path", GUARDS)
@pytest.mark.parametrize(
    ("manager", "packages", "family", "goes_on"),
    [
        ("systemd", DEFAULT, "Debian", True),
        ("systemd", DEFAULT, "RedHat", False),
        ("systemd", DEFAULT, "Suse", False),
        ("systemd", [], "RedHat", True),
        ("systemd", ["python3.12-setuptools"], "RedHat", True),
        # Nothing is installed without systemd.
        ("supervisor", DEFAULT, "RedHat", True),
    ],
)
def test_names_of_debian_are_refused_elsewhere(
    path: str, manager: str, packages: list[str], family: str, goes_on: bool
) -> None:
    condition = jinja2.Environment().compile_expression(guard(path)["that"])
    facts = {"os_family": family, "distribution": family}
    variables = {"kafka_service_manager": manager, GUARDS[path]: packages, "ansible_facts": facts}
    assert condition(**variables) is goes_on


@pytest.mark.parametrize("path", GUARDS)
def test_the_system_is_read_before_and_the_message_has_the_way_out(path: str) -> None:
    tasks = yaml.safe_load((ROOT / path).read_text())
    (read,) = [task["ansible.builtin.setup"] for task in tasks if "ansible.builtin.setup" in task]
    assert "distribution" in read["gather_subset"]
    message = guard(path)["fail_msg"]
    assert GUARDS[path] in message
    assert message.endswith("Nothing was changed.")


@pytest.mark.parametrize(("release", "system"), [("bookworm", "debian 12"), ("trixie", "debian 13")])
def test_the_machines_of_molecule_have_the_java_that_a_run_would_install(release: str, system: str) -> None:
    assert f"  {release}) java={JAVA_PACKAGES[system]} ;;" in (ROOT / "tools" / "base_image.sh").read_text()
    shared = yaml.safe_load((ROOT / ".config" / "molecule" / "config.yml").read_text())
    by_release = shared["provisioner"]["inventory"]["group_vars"]["all"]["molecule_java"]
    number = jinja2.Template(by_release).render(molecule_debian=release)
    assert f"openjdk-{number}-jre-headless" == JAVA_PACKAGES[system]
