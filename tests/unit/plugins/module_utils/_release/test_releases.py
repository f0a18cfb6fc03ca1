# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of releases, and what else has to name the same ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.module_utils._release import releases as table
from ansible_collections.streamops.kafka.plugins.module_utils._release.releases import (
    UnknownRelease,
    like,
    metadata_changes_between,
    newest_that_runs,
    release,
    releases,
)
from ansible_collections.streamops.kafka.plugins.module_utils._release.rows import METADATA_VERSIONS

ROOT = Path(__file__).resolve().parents[5]
FILES = ROOT / "roles/_common/files"
VERSIONS = [one.version for one in releases()]
#: The first part of a root of a lock file that is there where the release can run this.
JARS = {"mirror": "org.apache.kafka:connect-mirror:", "shell": "org.apache.kafka:kafka-shell:"}


def test_releases_are_listed_newest_first_and_each_is_itself() -> None:
    assert [one.numbers for one in releases()] == sorted((one.numbers for one in releases()), reverse=True)
    assert [release(version).version for version in VERSIONS] == VERSIONS


@pytest.mark.parametrize("version", ["", "4.3", "5.0.0", "latest"])
def test_an_unknown_release_is_an_error_that_names_all(version: str) -> None:
    with pytest.raises(UnknownRelease) as caught:
        release(version)
    assert repr(version) in str(caught.value)
    assert ", ".join(VERSIONS) in str(caught.value)


def test_variable_and_lock_files_name_the_same_releases() -> None:
    spec = yaml.safe_load((ROOT / "roles/_common/meta/argument_specs.yml").read_text())
    assert spec["argument_specs"]["variables"]["options"]["kafka_version"]["choices"] == VERSIONS
    assert {file.name for file in FILES.glob("kafka-*.lock.json")} == {f"kafka-{one}.lock.json" for one in VERSIONS}


@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_release_can_run_is_in_its_lock_file(version: str) -> None:
    roots = json.loads((FILES / f"kafka-{version}.lock.json").read_text())["roots"]
    runs = release(version).runs
    assert {"broker", "controller"} <= set(runs)
    assert {what: what in runs for what in JARS} == {
        what: any(root.startswith(jar) for root in roots) for what, jar in JARS.items()
    }


def test_a_patch_release_has_what_its_minor_release_has() -> None:
    found = like("3.9.0")
    assert found is not None
    assert found.version == "3.9.2"
    assert like("2.8.1") is None
    assert like("") is None


def test_features_have_a_highest_level_and_that_of_a_new_cluster() -> None:
    assert release("3.9.2").highest == {"metadata.version": 21, "kraft.version": 1}
    new = release("4.3.1").new_cluster
    assert (new["metadata.version"], new["transaction.version"], new["streams.version"]) == (30, 2, 1)


@pytest.mark.parametrize("one", releases(), ids=lambda one: one.version)
def test_a_new_cluster_gets_no_more_than_the_release_takes(one: table.Release) -> None:
    assert all(new <= highest for highest, new in one.features.values())
    assert one.highest["metadata.version"] == one.metadata_versions[1] <= max(METADATA_VERSIONS)


def test_the_newest_that_runs_something() -> None:
    assert newest_that_runs("zookeeper mode").version == newest_that_runs("legacy mirror").version == "3.9.2"


@pytest.mark.parametrize(
    ("one", "other", "changes"),
    [
        (21, 21, []),
        (21, 22, []),
        (21, 25, ["4.0-IV1"]),
        (25, 21, ["4.0-IV1"]),
        (29, 23, []),
        (30, 29, ["4.3-IV0"]),
        (30, 21, ["4.0-IV1", "4.3-IV0"]),
        (30, 33, ["4.4-IV1", "4.4-IV2"]),
        (99, 98, ["99"]),
    ],
)
def test_metadata_goes_back_where_no_version_between_changes_it(one: int, other: int, changes: list[str]) -> None:
    assert metadata_changes_between(one, other) == changes
