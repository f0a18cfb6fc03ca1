from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._release import maven as _maven
from ansible_collections.streamops.kafka.plugins.module_utils._release.errors import MavenFailed
from ansible_collections.streamops.kafka.plugins.module_utils._release.lock import Artifact

NS = {"m": "http://maven.apache.org/POM/4.0.0"}
PLAIN, CLASSIFIED = Artifact("g", "a", "1"), Artifact("g.h", "b", "2", "linux-x86_64")


def test_the_copy_pom_names_every_artifact_with_its_file_and_nothing_else() -> None:
    root = ElementTree.fromstring(_maven.copy_pom([PLAIN, CLASSIFIED], "/tmp/a & b"))
    items = [
        {part.tag.partition("}")[2]: part.text for part in item} for item in root.iterfind(".//m:artifactItem", NS)
    ]
    assert items == [
        {"groupId": "g", "artifactId": "a", "version": "1", "destFileName": "a-1.jar"},
        {
            "groupId": "g.h",
            "artifactId": "b",
            "version": "2",
            "classifier": "linux-x86_64",
            "destFileName": "b-2-linux-x86_64.jar",
        },
    ]
    assert root.findtext(".//m:outputDirectory", namespaces=NS) == "/tmp/a & b"
    assert root.find(".//m:dependency", NS) is None


def test_the_command_is_strict_and_takes_the_settings() -> None:
    assert _maven.command("mvn", "p.xml", "", "copy") == [
        "mvn",
        "-B",
        "-ntp",
        "-C",
        "-f",
        "p.xml",
        f"{_maven.PLUGIN}:copy",
    ]
    assert _maven.command("mvn", "p.xml", "s.xml", "copy")[4:6] == ["--settings", "s.xml"]


def test_a_missing_maven_says_how_to_install_it() -> None:
    def runner(argv: Sequence[str]) -> tuple[int, str, str]:
        raise FileNotFoundError(argv[0])

    with pytest.raises(MavenFailed, match=r"mvn is not there.*untouched.*apt-get install maven"):
        _maven.run(["mvn"], runner)


def test_a_failed_maven_shows_its_own_errors() -> None:
    out = "[INFO] Scanning\n[ERROR] Could not find artifact g:a:jar:1\n[ERROR] \n[ERROR] Re-run Maven using the -X\n"
    with pytest.raises(MavenFailed, match=r"(?s)exit code 1.*Could not find artifact g:a:jar:1") as caught:
        _maven.run(["mvn"], lambda argv: (1, out, ""))
    assert "kafka_maven_settings" in str(caught.value)
    assert "Re-run" not in str(caught.value)
    assert caught.value.failure["exit_code"] == 1


def test_fetch_runs_the_copy_goal_on_the_pom_it_wrote(tmp_path: Path) -> None:
    calls: list[Sequence[str]] = []

    def runner(argv: Sequence[str]) -> tuple[int, str, str]:
        calls.append(argv)
        return 0, "", ""

    _maven.fetch([PLAIN], str(tmp_path), runner, settings="/s.xml")
    assert calls == [_maven.command("mvn", str(tmp_path / "pom.xml"), "/s.xml", "copy")]
    assert str(tmp_path / "libs") in (tmp_path / "pom.xml").read_text()
