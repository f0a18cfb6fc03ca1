from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.streamops.kafka.plugins.filter.release_name import FilterModule
from ansible_collections.streamops.kafka.plugins.module_utils._release import layout

FILES = Path(__file__).parents[4] / "roles/_common/files"
SHA256, SHA512 = "a" * 64, "b" * 128
release_name = FilterModule().filters()["release_name"]


@pytest.mark.parametrize("version", ["4.3.1", "3.9.2"])
def test_a_lock_file_names_its_release_and_an_unused_sha512_changes_nothing(version: str) -> None:
    lock = json.loads((FILES / f"kafka-{version}.lock.json").read_text())
    digests = {jar["file"]: jar["sha256"] for jar in lock["jars"]}
    expected = layout.name_from_lock(version, digests, SHA256)
    assert release_name(lock, SHA256) == release_name(lock, SHA256, SHA512) == expected


def test_a_version_and_a_sha512_name_their_release() -> None:
    assert release_name("4.3.1", SHA256, SHA512) == layout.name_from_archive("4.3.1", SHA512, SHA256)


@pytest.mark.parametrize(
    ("made_of", "why"),
    [("4.3.1", "is not a SHA-512"), ({}, "not a lock file"), ([], "not a lock file"), (None, "not a lock")],
)
def test_what_names_no_release_is_refused(made_of: object, why: str) -> None:
    with pytest.raises(AnsibleFilterError, match=why):
        release_name(made_of, SHA256)
