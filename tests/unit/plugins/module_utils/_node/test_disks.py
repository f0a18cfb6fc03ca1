"""Disks are described as they are, whatever stands on them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._node.disks import disk, disks, meta_properties

META = "#\n#Sat Nov 21 01:03:51 UTC 2026\nnode.id=1\ndirectory.id=abc\nversion=1\ncluster.id=clusterA\n"
SNAPSHOT = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"


def fill(path: Path, *names: str, meta: str = "") -> Path:
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text("x")
    if meta:
        (path / "meta.properties").write_text(meta, encoding="iso-8859-1")
    return path


def test_a_missing_directory_is_empty_and_shows_the_space_it_would_have(tmp_path: Path) -> None:
    found = disk(str(tmp_path / "a" / "b"))
    assert (found["exists"], found["empty"], found["error"]) == (False, True, None)
    assert 0 < found["free_bytes"] <= found["total_bytes"]


def test_lost_and_found_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "lost+found").mkdir()
    found = disk(str(tmp_path))
    assert (found["exists"], found["empty"], found["started"], found["cut_format"]) == (True, True, False, False)
    assert found["lost_and_found"]


def test_directories_of_logs_are_told_from_that_of_the_metadata_alone(tmp_path: Path) -> None:
    logs, metadata = str(tmp_path / "logs"), str(tmp_path / "metadata")
    found = disks([logs], metadata)
    assert [(one["path"], one["logs"], one["metadata"]) for one in found] == [
        (logs, True, False),
        (metadata, False, True),
    ]


def test_a_formatted_directory_that_never_started(tmp_path: Path) -> None:
    found = disk(str(fill(tmp_path, "bootstrap.checkpoint", SNAPSHOT, meta=META)))
    assert found["meta_properties"]["cluster.id"] == "clusterA"
    assert (found["empty"], found["quorum_state"], found["started"], found["cut_format"]) == (False,) * 4


@pytest.mark.parametrize(
    "name", ["__cluster_metadata-0/quorum-state", "topic-0/00000000000000000000.log", ".lock", "surprise"]
)
def test_whatever_formatting_does_not_write_counts_as_started(tmp_path: Path, name: str) -> None:
    found = disk(str(fill(tmp_path, "bootstrap.checkpoint", SNAPSHOT, name, meta=META)))
    assert found["started"] is True
    assert found["quorum_state"] is name.endswith("quorum-state")


@pytest.mark.parametrize("names", [["bootstrap.checkpoint"], ["bootstrap.checkpoint", SNAPSHOT], [f"{SNAPSHOT}.part"]])
def test_a_format_that_was_cut_is_told_from_foreign_data(tmp_path: Path, names: list[str]) -> None:
    found = disk(str(fill(tmp_path, *names)))
    assert (found["cut_format"], found["empty"], found["meta_properties"]) == (True, False, None)


def test_foreign_data_is_no_cut_format(tmp_path: Path) -> None:
    found = disk(str(fill(tmp_path, "photos/1.jpg", "bootstrap.checkpoint")))
    assert (found["cut_format"], found["started"]) == (False, True)
    assert found["entries"] == ["bootstrap.checkpoint", "photos"]


def test_a_file_in_place_of_the_directory_is_an_error(tmp_path: Path) -> None:
    fill(tmp_path, "file")
    found = disk(str(tmp_path / "file"))
    assert (found["exists"], found["empty"]) == (True, False)
    assert "cannot be read" in found["error"]


def test_a_dangling_link_is_an_error_and_not_a_missing_directory(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert "cannot be read" in disk(str(tmp_path / "link"))["error"]


@pytest.mark.parametrize("meta", ["\0\0\0", "hello", "cluster.id=a\\u12", "node.id=1\n", "x" * 100_000])
def test_a_damaged_meta_properties_is_an_error_that_says_so(tmp_path: Path, meta: str) -> None:
    found = disk(str(fill(tmp_path, meta=meta)))
    assert "meta.properties is damaged" in found["error"]
    assert (found["empty"], found["meta_properties"]) == (False, None)


@given(st.binary(max_size=300))
def test_no_garbage_in_meta_properties_ends_in_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "garbage" / "meta.properties"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    found = disk(str(path.parent))
    assert found["error"] or found["meta_properties"]["cluster.id"] is not None


def test_reads_comments_and_escapes_of_meta_properties(tmp_path: Path) -> None:
    fill(tmp_path, meta="# c\n! c\n cluster.id : a\\u0062c\nnode.id 1\nversion=1")
    assert meta_properties(str(tmp_path / "meta.properties")) == {"cluster.id": "abc", "node.id": "1", "version": "1"}


def test_the_metadata_directory_is_marked_and_added_where_it_is_apart(tmp_path: Path) -> None:
    one, two, apart = (str(tmp_path / name) for name in ("one", "two", "apart"))
    assert [(d["path"], d["metadata"]) for d in disks([one, two], "")] == [(one, True), (two, False)]
    assert [(d["path"], d["metadata"]) for d in disks([one, two], two)] == [(one, False), (two, True)]
    assert [(d["path"], d["metadata"]) for d in disks([one], apart)] == [(one, False), (apart, True)]
    assert [d["metadata"] for d in disks([one + "/"], one)] == [True]
    assert disks([], "") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a directory of another user and leave its own rights")
def test_a_directory_that_this_user_may_not_read_is_an_error(tmp_path: Path) -> None:
    fill(tmp_path, "secret/file")
    (tmp_path / "secret").chmod(0)
    tmp_path.chmod(0o755)
    for parent in (one for one in tmp_path.parents if "pytest" in str(one)):
        parent.chmod(0o755)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        os.write(writing, (disk(str(tmp_path / "secret"))["error"] or "none").encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    assert os.read(reading, 200).decode() == "cannot be read: Permission denied"
    os.close(reading)


def test_file_systems_are_told_apart_and_have_room_for_files(tmp_path: Path) -> None:
    here, proc = disk(str(tmp_path)), disk("/proc")
    assert here["device"] == disk(str(tmp_path / "later" / "on"))["device"]
    assert here["device"] != proc["device"]
    assert here["free_inodes"] is None or here["free_inodes"] > 0


def test_a_read_only_mount_is_known_as_the_kernel_lists_it() -> None:
    listed = {
        line.split()[1]: line.split()[3].split(",") for line in Path("/proc/self/mounts").read_text().splitlines()
    }
    seen = {mount: disk(mount)["read_only"] for mount in listed if "\\" not in mount and os.path.ismount(mount)}
    assert seen == {mount: "ro" in listed[mount] for mount in seen}
    assert len(seen) > 1
