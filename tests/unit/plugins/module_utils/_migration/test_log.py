# SPDX-License-Identifier: GPL-3.0-or-later
"""The metadata log on a disk: batches as Kafka writes them, snapshots, transactions, and what is broken."""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._migration import look
from ansible_collections.streamops.kafka.plugins.module_utils._migration.model import (
    MIGRATION,
    NONE,
    POST_MIGRATION,
    PRE_MIGRATION,
    MetadataLog,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.records import LogReader, UnclearLogError

#: As Kafka writes them: frame version, type, version, fields, no tagged fields.
STATE = {
    name: bytes((1, 21, 0, value, 0))
    for name, value in ((NONE, 0), (MIGRATION, 1), (PRE_MIGRATION, 2), (POST_MIGRATION, 3))
}
BEGIN, END, ABORT = bytes((1, 23, 0, 0)), bytes((1, 24, 0, 0)), bytes((1, 25, 0, 0))
NO_OP = bytes((1, 20, 0, 0))
CONTROL = 0b100000


def registered(broker: int, migrating: bool, version: int = 3) -> bytes:
    flag = bytes((migrating,)) if version >= 2 else b""
    return bytes((1, 0, version)) + struct.pack(">i", broker) + flag + bytes(40)


def unregistered(broker: int) -> bytes:
    return bytes((1, 1, 0)) + struct.pack(">iq", broker, 7) + b"\0"


def signed(number: int) -> bytes:
    number = (number << 1) ^ (number >> 63)
    text = bytearray()
    while number > 0x7F:
        text.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*text, number])


def batch(base: int, values: Sequence[bytes], epoch: int = 1, attributes: int = 0) -> bytes:
    records = b""
    for offset, value in enumerate(values):
        body = b"\0" + signed(300) + signed(offset) + signed(-1) + signed(len(value)) + value + signed(0)
        records += signed(len(body)) + body
    tail = struct.pack(">hiqqqhii", attributes, len(values) - 1, 0, 0, -1, -1, -1, len(values)) + records
    return struct.pack(">qiibI", base, len(tail) + 9, epoch, 2, 0) + tail


def follow(*batches: bytes) -> MetadataLog:
    reader = LogReader()
    for one in batches:
        reader.follow(one)
    return reader.log()


@pytest.mark.parametrize("state", STATE)
def test_each_state_is_read(state: str) -> None:
    assert follow(batch(0, [NO_OP, STATE[state]], epoch=3)) == MetadataLog(state, {}, 3, 2)


def test_the_last_registration_of_a_broker_counts_until_it_is_unregistered() -> None:
    first = batch(0, [registered(1, True), registered(2, True), registered(1000, True)])
    assert follow(first).brokers == {1: True, 2: True, 1000: True}
    assert follow(first, batch(3, [registered(2, False), unregistered(1000)])).brokers == {1: True, 2: False}
    assert follow(batch(0, [registered(1, True, version=1)])).brokers == {1: False}


def test_what_a_transaction_holds_counts_once_it_has_ended() -> None:
    before = batch(0, [STATE[PRE_MIGRATION]])
    copy = batch(1, [BEGIN, registered(1, True), STATE[MIGRATION]])
    assert follow(before, copy) == MetadataLog(PRE_MIGRATION, {}, 1, 4)
    assert follow(before, copy, batch(4, [END])) == MetadataLog(MIGRATION, {1: True}, 1, 5)
    assert follow(before, copy, batch(4, [ABORT, NO_OP])) == MetadataLog(PRE_MIGRATION, {}, 1, 6)


def test_control_batches_tell_the_epoch_alone() -> None:
    leader = batch(0, [b"\0\0\0\2\0"], epoch=7, attributes=CONTROL)
    assert follow(leader) == MetadataLog("", {}, 7, 1)


@pytest.mark.parametrize(
    "broken",
    [
        batch(0, [STATE[NONE]], attributes=4),
        batch(0, [STATE[NONE]])[:40],
        batch(0, [STATE[NONE]])[:-3],
        batch(0, [STATE[NONE][:3]]),
        batch(0, [registered(1, True)[:5]]),
        batch(0, [b""]),
    ],
)
def test_a_broken_batch_is_named_as_one(broken: bytes) -> None:
    with pytest.raises(UnclearLogError):
        follow(broken)


# -- files ---------------------------------------------------------------------------------------------------------


def written(directory: Path, files: dict[str, bytes]) -> str:
    partition = directory / "__cluster_metadata-0"
    partition.mkdir()
    for name, content in files.items():
        (partition / name).write_bytes(content)
    return str(directory)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {f"{0:020d}.log": b""},
        # As formatting leaves it (kraft.version 1).
        {f"{0:020d}.log": b"", f"{0:020d}-{0:010d}.checkpoint": batch(0, [b"\0\0\0\0"], attributes=CONTROL)},
    ],
)
def test_a_disk_that_was_only_formatted_has_no_log(tmp_path: Path, files: dict[str, bytes]) -> None:
    assert look.metadata_log(written(tmp_path, files)) is None
    assert look.metadata_log(str(tmp_path / "missing")) is None


def test_a_snapshot_and_the_segments_behind_it_are_read(tmp_path: Path) -> None:
    files = {
        f"{0:020d}.log": batch(0, [STATE[PRE_MIGRATION], registered(9, True)]),
        f"{100:020d}-{4:010d}.checkpoint": batch(0, [STATE[MIGRATION], registered(1, True), registered(2, True)]),
        f"{200:020d}-{4:010d}.checkpoint.part": b"half",
        # Its first batch is in front of the end of the snapshot.
        f"{90:020d}.log": batch(90, [STATE[PRE_MIGRATION]] * 10) + batch(100, [registered(1, False)], epoch=5),
        f"{101:020d}.log": batch(101, [NO_OP], epoch=5) + b"\0" * 500,
    }
    assert look.metadata_log(written(tmp_path, files)) == MetadataLog(MIGRATION, {1: False, 2: True}, 5, 102)


def test_a_snapshot_alone_tells_how_far_it_goes(tmp_path: Path) -> None:
    files = {f"{100:020d}-{4:010d}.checkpoint": batch(0, [STATE[POST_MIGRATION]]), f"{100:020d}.log": b""}
    assert look.metadata_log(written(tmp_path, files)) == MetadataLog(POST_MIGRATION, {}, 4, 100)


def test_a_file_that_kafka_deletes_meanwhile_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = written(tmp_path, {f"{0:020d}.log": batch(0, [STATE[NONE]]), f"{1:020d}.log": batch(1, [NO_OP])})
    reads: list[str] = []
    real = look._feed

    def vanishing(reader: LogReader, path: str, *more: Any) -> int:
        reads.append(path)
        if len(reads) == 1:
            raise FileNotFoundError(path)
        return real(reader, path, *more)

    monkeypatch.setattr(look, "_feed", vanishing)
    assert look.metadata_log(directory) == MetadataLog(NONE, {}, 1, 2)


def test_a_log_without_bound_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "_MOST_BYTES", 100)
    directory = written(tmp_path, {f"{0:020d}.log": batch(0, [STATE[NONE]]) * 2})
    with pytest.raises(UnclearLogError, match="behind the last snapshot"):
        look.metadata_log(directory)


# -- a node --------------------------------------------------------------------------------------------------------

PARAMS = {"state_dir": "", "config_file": "", "metadata_dir": ""}


def test_a_node_that_never_started_tells_nothing(tmp_path: Path) -> None:
    assert look.migration_info(**{**PARAMS, "state_dir": str(tmp_path), "metadata_dir": str(tmp_path)}) == {
        "changed": False, "running": False, "release": "", "start_record": None, "log": None, "unread": "",
        "record_unread": "", "epoch": 0, "kraft_dirs": None, "dirs_unread": "",
    }  # fmt: skip


def test_a_node_tells_its_last_start_and_no_secret_of_it(tmp_path: Path) -> None:
    record = tmp_path / "started"
    record.mkdir()
    (record / "server.properties").write_text(
        "zookeeper.metadata.migration.enable=true\nssl.keystore.password=hunter2\nbroker.id=1\n"
    )
    (record / "jvm.options").write_text('-cp\n"/opt/kafka-3.9.2-0123456789ab/libs/*"\n')
    directory = written(tmp_path, {f"{0:020d}.log": batch(0, [STATE[MIGRATION], registered(1, True)], epoch=6)})
    (tmp_path / "__cluster_metadata-0" / "quorum-state").write_text('{"leaderId":101,"leaderEpoch":8}')
    told = look.migration_info(**{**PARAMS, "state_dir": str(tmp_path), "metadata_dir": directory})
    assert told["start_record"] == {
        "process.roles": "", "zookeeper.metadata.migration.enable": "true", "inter.broker.protocol.version": "",
    }  # fmt: skip
    assert (told["release"], told["epoch"]) == ("3.9.2", 8)
    assert told["log"] == {"state": MIGRATION, "brokers": {"1": True}, "epoch": 6, "end": 2}


@pytest.mark.parametrize("denied", ["started", "server.properties"])
def test_a_start_record_that_may_not_be_read_is_named_and_not_taken_for_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, denied: str
) -> None:
    (tmp_path / "started").mkdir()
    (tmp_path / "started" / "server.properties").touch()
    # Root, who may read all, runs this test too.
    list_names, opened = os.listdir, open

    def names(path: Any) -> list[str]:
        if str(path).endswith(denied):
            raise PermissionError(13, "Permission denied", str(path))
        return list_names(path)

    def file(path: Any, *more: Any, **options: Any) -> Any:
        if str(path).endswith(denied):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *more, **options)

    monkeypatch.setattr(os, "listdir", names)
    monkeypatch.setattr("builtins.open", file)
    told = look.migration_info(**{**PARAMS, "state_dir": str(tmp_path)})
    assert (told["start_record"], "Permission denied" in told["record_unread"]) == (None, True)
    assert denied in told["record_unread"]


def test_a_start_record_without_a_fault_is_read(tmp_path: Path) -> None:
    (tmp_path / "started").mkdir()
    (tmp_path / "started" / "server.properties").touch()
    assert look.migration_info(**{**PARAMS, "state_dir": str(tmp_path)})["record_unread"] == ""


def test_a_log_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(_directory: str) -> MetadataLog | None:
        raise PermissionError(13, "Permission denied", "/data/__cluster_metadata-0")

    monkeypatch.setattr(look, "metadata_log", denied)
    told = look.migration_info(**{**PARAMS, "metadata_dir": str(tmp_path)})
    assert (told["log"], "Permission denied" in told["unread"]) == (None, True)


def meta(directory: Path, version: str) -> str:
    """Write a meta.properties as Kafka does, and return the directory."""
    directory.mkdir()
    identity = {"0": "broker.id=1", "1": "node.id=1"}.get(version, "broker.id=1")
    line = f"version={version}\n" if version else ""
    (directory / "meta.properties").write_text(f"#\n{line}cluster.id=abc\n{identity}\n")
    return str(directory)


def test_directories_that_were_formatted_for_kraft_are_told_by_their_version(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    old, unnamed, formatted = meta(tmp_path / "old", "0"), meta(tmp_path / "unnamed", ""), meta(tmp_path / "new", "1")
    params = {**PARAMS, "state_dir": str(tmp_path)}
    told = look.migration_info(**params, log_dirs=[old, unnamed, str(bare), formatted])
    assert (told["kraft_dirs"], told["dirs_unread"]) == ([formatted], "")
    assert look.migration_info(**params, log_dirs=[old, unnamed])["kraft_dirs"] == []
    assert look.migration_info(**params)["kraft_dirs"] is None


def test_directories_that_cannot_be_read_are_not_taken_for_good_ones(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "meta.properties").write_text("nothing of Kafka")
    told = look.migration_info(**{**PARAMS, "state_dir": str(tmp_path)}, log_dirs=[str(broken)])
    assert told["kraft_dirs"] is None
    assert told["dirs_unread"].startswith(f"{broken}: ")
