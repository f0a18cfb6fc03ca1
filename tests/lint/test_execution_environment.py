# SPDX-License-Identifier: GPL-3.0-or-later
"""ansible-builder finds what the collection needs in an execution environment, and takes the definition of awx/."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import ansible_collections.awx.awx as awx_awx
import pytest
import yaml
from packaging.requirements import Requirement

from tests.lint.test_packaging import ROOT, pins

PROGRAM = str(Path(sys.executable).parent / "ansible-builder")


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `docker build` would take."""
    directory = tmp_path_factory.mktemp("environment") / "context"
    tool = [sys.executable, str(ROOT / "tools" / "ee_image"), "context", str(directory)]
    subprocess.run(tool, check=True, capture_output=True, text=True, timeout=120)
    return directory


def test_builder_takes_the_shipped_definition(context: Path) -> None:
    recipe = (context / "Dockerfile").read_text()
    assert "ansible-runner>=2.4.3" in recipe
    assert "USER 1000" in recipe
    assert "/usr/bin/apt-get" in recipe


def test_the_packed_collection_says_what_it_needs(context: Path, tmp_path: Path) -> None:
    collection = tmp_path / "ansible_collections" / "streamops" / "kafka"
    (archive,) = (context / "_build").glob("streamops-kafka-*.tar.gz")
    shutil.unpack_archive(archive, collection)
    introspect = [PROGRAM, "introspect", str(tmp_path)]
    done = subprocess.run(introspect, check=True, capture_output=True, text=True, timeout=60)
    found = yaml.safe_load(done.stdout)
    wanted = pins("requirements.txt")
    asked = {Requirement(line.partition("#")[0]).name for line in found["python"]}
    # ansible-core is the definition's own: ansible-builder takes it from no collection.
    assert asked == {one.name for one in wanted.values()} - {"ansible-core"}
    assert any(line.startswith("openjdk-17-jre-headless") for line in found["system"])


def test_awx_content_runs_in_the_environment_with_the_version_that_is_tested() -> None:
    shipped = yaml.safe_load((ROOT / "awx" / "execution-environment.yml").read_text())
    version = json.loads((Path(awx_awx.__path__[0]) / "MANIFEST.json").read_text())["collection_info"]["version"]
    # tools/ee_image takes what the package ansible brings, which is what is installed here.
    assert {"name": "awx.awx", "version": version} in shipped["dependencies"]["galaxy"]["collections"]
    assert f"awx.awx:{version}" in (ROOT / "playbooks" / "awx.yml").read_text()
    assert f"awx.awx:{version}" in (ROOT / "docs" / "awx.md").read_text()


def test_pyspark_is_the_one_of_the_locked_jars() -> None:
    shipped = yaml.safe_load((ROOT / "awx" / "execution-environment.yml").read_text())
    assert shipped["dependencies"]["python"] == [str(pins("requirements-spark.txt")["pyspark"])]
    core = Requirement(shipped["dependencies"]["ansible_core"]["package_pip"])
    assert core == pins("requirements.txt")["ansible-core"]
