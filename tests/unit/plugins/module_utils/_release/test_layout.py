from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._release import layout
from ansible_collections.streamops.kafka.plugins.module_utils._release.errors import InvalidInput

LAUNCHER = (Path(__file__).parents[5] / "roles/_common/files/launcher").read_text(encoding="utf-8")
JARS = {"kafka_2.13-4.3.1.jar": "a" * 64, "scala-library-2.13.18.jar": "b" * 64}
SHA = "c" * 64
SHA512 = "0123456789abcdef" * 8


def test_the_name_from_a_lock_is_the_digest_of_the_manifest() -> None:
    text = layout.manifest(layout.files_of_lock(JARS, SHA))
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    assert layout.name_from_lock("4.3.1", JARS, SHA) == f"kafka-4.3.1-{digest}"


def test_any_change_of_content_changes_the_name() -> None:
    names = [
        layout.name_from_lock("4.3.1", JARS, SHA),
        layout.name_from_lock("4.3.1", dict(JARS, **{"kafka_2.13-4.3.1.jar": "d" * 64}), SHA),
        layout.name_from_lock("4.3.1", dict(JARS, extra="a" * 64), SHA),
        layout.name_from_lock("4.3.1", JARS, "d" * 64),
        layout.name_from_archive("4.3.1", SHA512, SHA),
        layout.name_from_archive("4.3.1", "f" * 128, SHA),
        layout.name_from_archive("4.3.1", SHA512, "d" * 64),
    ]
    assert len(set(names)) == len(names)


def test_sha512_is_taken_in_the_form_that_apache_publishes() -> None:
    upper = SHA512.upper()
    lines = "\n".join(" ".join(upper[at : at + 8] for at in range(start, start + 64, 8)) for start in (0, 64))
    assert layout.normal_sha512(f"kafka_2.13-4.3.1.tgz: {lines}\n") == SHA512


@pytest.mark.parametrize("text", ["", "abc", "g" * 128, "a" * 64, "a" * 129])
def test_what_is_no_sha512_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="128 hexadecimal digits"):
        layout.normal_sha512(text)


@pytest.mark.parametrize("version", ["", "4.3", "latest", "../4.3.1", "4.3.1-rc1"])
def test_a_version_that_is_not_three_numbers_is_refused(version: str) -> None:
    with pytest.raises(InvalidInput, match="three numbers"):
        layout.name_from_lock(version, JARS, SHA)


def test_a_manifest_reads_back_and_is_one_that_sha256sum_checks(tmp_path: Path) -> None:
    files = {}
    for path in ("libs/a.jar", "bin/launcher"):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_text(path)
        files[path] = hashlib.sha256(path.encode()).hexdigest()
    text = layout.manifest(files)
    assert layout.parse_manifest(text) == files
    subprocess.run(["sha256sum", "--check", "--strict"], input=text, cwd=tmp_path, text=True, check=True)


def test_a_line_that_is_no_manifest_line_is_refused() -> None:
    with pytest.raises(ValueError, match="not a line of a manifest"):
        layout.parse_manifest("abc  libs/a.jar\n")


def test_tools_follow_the_version() -> None:
    new, old = layout.tool_names(LAUNCHER, "4.3.1"), layout.tool_names(LAUNCHER, "3.9.2")
    assert {"kafka-topics.sh", "kafka-storage.sh", "kafka-run-class.sh", "connect-mirror-maker.sh"} <= set(new) & set(
        old
    )
    assert set(new) - set(old) >= {"kafka-groups.sh", "kafka-share-groups.sh"}
    assert set(old) - set(new) == {"kafka-mirror-maker.sh", "zookeeper-shell.sh", "zookeeper-security-migration.sh"}


def test_tools_without_their_jar_are_left_out() -> None:
    tools = ["connect-mirror-maker.sh", "kafka-metadata-shell.sh", "kafka-topics.sh"]
    assert layout.runnable(tools, "4.4.0") == ["kafka-topics.sh"]
    assert layout.runnable(tools, "4.3.1") == tools
    assert layout.runnable(tools, "9.9.9") == tools


def test_a_launcher_without_table_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no table of tools"):
        layout.tool_names("#!/bin/sh\n", "4.3.1")


def test_a_release_of_zookeeper_has_its_own_name_tools_and_files() -> None:
    launcher = (Path(__file__).parents[5] / "roles/_common/files/zookeeper-launcher").read_text(encoding="utf-8")
    jars = {"zookeeper-3.9.5.jar": "a" * 64}
    name = layout.name_from_lock("3.9.5", jars, SHA, layout.ZOOKEEPER)
    assert name.startswith("zookeeper-3.9.5-")
    assert layout.tool_names(launcher, "3.9.5", layout.ZOOKEEPER) == [
        "zkCleanup.sh",
        "zkCli.sh",
        "zkSnapShotToolkit.sh",
        "zkTxnLogToolkit.sh",
    ]
    files = layout.files_of_lock(jars, SHA, layout.ZOOKEEPER)
    assert set(files) == {"libs/zookeeper-3.9.5.jar", "bin/launcher", "config/tools-logback.xml"}
