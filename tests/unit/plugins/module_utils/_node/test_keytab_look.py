"""The keytab of a node on its machine: what is wrong with it, who may read it, and which version it has."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node import keytab_look, rights
from ansible_collections.streamops.kafka.plugins.module_utils._node.keytab_look import look_at_keytab
from tests.support.keytabs import keytab, record

NAME = "kafka/b1@R"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "kafka.keytab"
    file.write_bytes(keytab(record(NAME, 4)))
    file.chmod(0o440)
    return file


def test_a_keytab_that_fits(file: Path) -> None:
    look = look_at_keytab(str(file), "", [NAME])
    assert look == {"path": str(file), "problem": "", "is_open": False, "version": 4, "copied": None}
    assert look_at_keytab(str(file), "nobody-by-this-name", [NAME], 3)["copied"] == 3


def test_what_is_wrong_is_said(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert look_at_keytab(f"{file}.gone", "", [NAME])["problem"] == "No such file or directory"
    assert "no key of kafka/b2@R" in look_at_keytab(str(file), "", [NAME, "kafka/b2@R"])["problem"]
    monkeypatch.setattr(keytab_look, "may", lambda *_asked: False)
    assert look_at_keytab(str(file), "kafka", [NAME])["problem"] == "the user kafka of the node may not read it"
    file.chmod(0o644)
    file.write_bytes(b"\x05\x02" + bytes(keytab_look.LIMIT))
    assert "no keytab" in look_at_keytab(str(file), "", [NAME])["problem"]


def test_others_who_may_read_it_are_seen(file: Path) -> None:
    file.chmod(0o444)
    assert look_at_keytab(str(file), "", [NAME])["is_open"]


@pytest.mark.parametrize(
    ("mode", "uid", "gid", "expected"),
    [
        (0o400, 7, 5, True),
        (0o044, 7, 77, False),
        (0o440, 8, 77, True),
        (0o440, 8, 5, False),
        (0o444, 8, 5, True),
    ],
)
def test_rights_are_those_of_owner_group_or_others(
    mode: int, uid: int, gid: int, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rights.pwd, "getpwnam", lambda _name: SimpleNamespace(pw_uid=7, pw_gid=77))
    monkeypatch.setattr(rights.os, "getgrouplist", lambda *_user: [77])
    monkeypatch.setattr(rights.os, "listxattr", lambda _path: [])
    monkeypatch.setattr(rights.os, "stat", lambda _path: SimpleNamespace(st_uid=uid, st_gid=gid, st_mode=mode))
    assert rights.may("/k", "kafka", rights.READ) is expected
