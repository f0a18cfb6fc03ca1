# SPDX-License-Identifier: GPL-3.0-or-later
"""A secured site with the oldest packages that the collection promises to run with; the environment has the newest."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml

from tests.support.cluster import ROOT, Cluster
from tests.support.secured import PASSWORD, secured_cluster

pytestmark = pytest.mark.full


def oldest() -> str:
    """The lowest version that the collection says it runs with."""
    promised = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())["requires_ansible"]
    return str(re.fullmatch(r">=(\d+\.\d+\.\d+)", promised)[1])  # type: ignore[index]


def lowest() -> list[str]:
    """The lowest version that requirements.txt allows of each package, as pip takes it."""
    ranges = re.findall(r"^([\w-]+)>=([\d.]+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    return [f"{name}=={version}" for name, version in ranges]


@pytest.fixture(scope="module")
def programs() -> Path:
    """The programs of an environment with the oldest packages, kept in .cache; all others are those of .venv."""
    pinned = re.findall(r"^supervisor==.*$", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    wanted = [*lowest(), *pinned]
    name = hashlib.sha256(" ".join([sys.executable, *wanted]).encode()).hexdigest()[:8]
    environment = ROOT / ".cache" / f"ansible-core-{oldest()}-{name}"
    if not (environment / "whole").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(environment)], check=True)
        pip = [str(environment / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
        subprocess.run([*pip, "install", *wanted], check=True, timeout=300)
        # Behind its own packages on the path: what is installed in both is its own.
        site = environment / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
        (site / "zz-others.pth").write_text(sysconfig.get_path("purelib") + "\n")
        (environment / "whole").touch()
    return environment / "bin"


@pytest.fixture
def site(tmp_path: Path, programs: Path) -> Cluster:
    """A cluster with TLS and passwords that is not installed."""
    cluster = secured_cluster(tmp_path, PASSWORD)
    cluster.programs = programs
    return cluster


def test_it_is_that_version(programs: Path) -> None:
    said = subprocess.run([programs / "ansible", "--version"], check=True, capture_output=True, text=True).stdout
    assert f"[core {oldest()}]" in said


def test_every_file_of_a_secured_site_is_rendered(site: Cluster) -> None:
    foreseen = site.playbook("site.yml", "--check").ok()
    assert "Files | Compare the node's files with what is wanted" in foreseen.output
    assert foreseen.changed > 0


def test_a_secured_site_is_installed_and_stays_as_it_is(site: Cluster) -> None:
    try:
        site.playbook().ok()
        assert site.playbook().ok().changed == 0
    finally:
        site.destroy()
