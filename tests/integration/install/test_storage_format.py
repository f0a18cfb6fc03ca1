"""Formatting with Kafka's own storage tool, of both supported versions."""

from __future__ import annotations

import contextlib
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._node import format as _storage_format
from ansible_collections.streamops.kafka.plugins.module_utils._node.disks import disk
from ansible_collections.streamops.kafka.plugins.module_utils._node.format import FormatError
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.directory_id import directory_id
from tests.support.forms import short
from tests.support.modules import run_module

CLUSTER, OTHER = "clusteridAAAAAAAAAAAAA", "clusteridBBBBBBBBBBBBB"
VOTER = directory_id(CLUSTER, 1)

Call = Callable[..., dict[str, Any]]


@pytest.fixture(params=short(["4.3.1", "3.9.2"], "4.3.1"))
def options(request: pytest.FixtureRequest, kafka_release: Callable[[str], Path], tmp_path: Path) -> dict[str, Any]:
    """Options of the module for a combined node with two directories."""
    config = tmp_path / "server.properties"
    config.write_text(
        "node.id=1\nprocess.roles=broker,controller\nlisteners=CLIENT://127.0.0.1:1,CONTROLLER://127.0.0.1:2\n"
        "advertised.listeners=CLIENT://127.0.0.1:1,CONTROLLER://127.0.0.1:2\n"
        "listener.security.protocol.map=CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT\ninter.broker.listener.name=CLIENT\n"
        "controller.listener.names=CONTROLLER\ncontroller.quorum.bootstrap.servers=127.0.0.1:2\nlog.dirs=/nowhere\n"
    )
    return {
        "release_dir": str(kafka_release(request.param)),
        "config": str(config),
        "cluster_id": CLUSTER,
        "node_id": 1,
        "log_dirs": [str(tmp_path / "one"), str(tmp_path / "two")],
        "initial_controllers": f"1@127.0.0.1:2:{VOTER}",
    }


@pytest.fixture
def storage_format(options: dict[str, Any]) -> Call:
    """Format with the real tool, without the seconds that Ansible takes; keyword arguments replace options."""
    defaults: dict[str, Any] = dict.fromkeys(("class_path", "features", "release_version", "scram", "owner", "group"))
    defaults.update(java="", metadata_dir="", standalone=False, no_initial_controllers=False)

    def call(**other: Any) -> dict[str, Any]:
        return _storage_format.storage_format({**defaults, **options, **other}, check=False)

    return call


@pytest.mark.parametrize("options", ["4.3.1"], indirect=True)
def test_the_module_predicts_formats_and_then_changes_nothing(options: dict[str, Any], tmp_path: Path) -> None:
    predicted = run_module("streamops.kafka.storage_format", options, check=True, diff=True)
    assert (predicted["failed"], predicted["changed"]) == (False, True), predicted
    assert CLUSTER in predicted["diff"]["after"]
    assert not (tmp_path / "one").exists()

    done = run_module("streamops.kafka.storage_format", options)
    assert (done["failed"], done["changed"], done["formatted"]) == (False, True, options["log_dirs"]), done
    assert stat.S_IMODE((tmp_path / "one" / "bootstrap.checkpoint").stat().st_mode) & 0o027 == 0

    again = run_module("streamops.kafka.storage_format", options)
    assert (again["failed"], again["changed"], again["formatted"]) == (False, False, [])

    refused = run_module("streamops.kafka.storage_format", {**options, "cluster_id": OTHER})
    assert refused["failed"]
    assert CLUSTER in refused["msg"]
    assert OTHER in refused["msg"]
    assert refused["failure"]["kind"] == "RefusedError"


@pytest.mark.full
def test_a_cluster_id_that_begins_with_a_dash_is_taken(storage_format: Call, tmp_path: Path) -> None:
    # Kafka draws none (Uuid.randomUuid), but other tools do; the tool would take "-t ID" for two options.
    dashed = f"-{CLUSTER[1:]}"
    voter = f"1@127.0.0.1:2:{directory_id(dashed, 1)}"
    done = storage_format(cluster_id=dashed, initial_controllers=voter)
    assert {meta["cluster.id"] for meta in done["meta_properties"].values()} == {dashed}
    assert storage_format(cluster_id=dashed, initial_controllers=voter)["formatted"] == []


def test_what_a_format_leaves_is_known_exactly(storage_format: Call, tmp_path: Path) -> None:
    ids = {path: meta["directory.id"] for path, meta in storage_format()["meta_properties"].items()}
    assert ids[str(tmp_path / "one")] == VOTER
    assert ids[str(tmp_path / "two")] != VOTER
    for path in (tmp_path / "one", tmp_path / "two"):
        found = disk(str(path))
        # Never taken for a node that started, nor for a format that was cut.
        assert [found[key] for key in ("started", "quorum_state", "cut_format", "error")] == [False, False, False, None]


def test_goes_on_after_a_cut_between_two_directories(storage_format: Call, tmp_path: Path) -> None:
    storage_format(log_dirs=[str(tmp_path / "one")])
    done = storage_format()
    assert done["formatted"] == [str(tmp_path / "two")]
    assert done["meta_properties"][str(tmp_path / "one")]["directory.id"] == VOTER
    assert not (tmp_path / "two" / "__cluster_metadata-0").exists()


@pytest.mark.full
def test_goes_on_when_the_directory_of_the_metadata_is_the_one_that_was_left(
    storage_format: Call, tmp_path: Path
) -> None:
    storage_format(log_dirs=[str(tmp_path / "two")], initial_controllers=None, no_initial_controllers=True)
    done = storage_format()
    assert done["formatted"] == [str(tmp_path / "one")]
    assert done["meta_properties"][str(tmp_path / "one")]["directory.id"] == VOTER


@pytest.mark.full
def test_refuses_a_format_that_was_cut_within_a_directory(storage_format: Call, tmp_path: Path) -> None:
    storage_format()
    (tmp_path / "one" / "meta.properties").unlink()
    assert disk(str(tmp_path / "one"))["cut_format"]
    with pytest.raises(RefusedError, match="a format that was cut"):
        storage_format()


@pytest.mark.full
def test_a_node_that_joins_is_formatted_without_voters(storage_format: Call, tmp_path: Path) -> None:
    assert storage_format(initial_controllers=None, no_initial_controllers=True)["changed"]
    assert not (tmp_path / "one" / "__cluster_metadata-0").exists()


@pytest.mark.full
def test_a_single_node_is_formatted_as_the_only_voter(storage_format: Call, tmp_path: Path) -> None:
    assert storage_format(initial_controllers=None, standalone=True)["changed"]
    assert (tmp_path / "one" / "__cluster_metadata-0").is_dir()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"features": {"nonsense.version": 1}}, "nonsense.version"),
        ({"initial_controllers": "nonsense"}, "failed with 1: .*IllegalArgumentException: No @ found"),
        ({"release_dir": "/nowhere"}, "StorageTool"),
    ],
)
def test_a_failure_says_what_the_tool_said_and_formats_nothing(
    storage_format: Call, tmp_path: Path, wrong: dict[str, Any], said: str
) -> None:
    with pytest.raises(FormatError, match=said) as caught:
        storage_format(**wrong)
    assert "log4j" not in str(caught.value).lower()
    assert "Reconfiguration" not in str(caught.value)
    assert not (tmp_path / "one").exists()


def test_scram_credentials_reach_the_disk_and_nothing_else(storage_format: Call, tmp_path: Path) -> None:
    done = storage_format(scram=["SCRAM-SHA-512=[name=admin,password=hunter2-secret]"])
    assert "hunter2-secret" not in str(done)
    assert "storedKey" not in str(done)
    assert b"admin" in (tmp_path / "one" / "bootstrap.checkpoint").read_bytes()


def test_no_process_of_a_format_has_a_credential_in_its_arguments_or_environment(storage_format: Call) -> None:
    before = set(processes())
    seen: list[bytes] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            for process in set(processes()) - before:
                # A process may end between the two lines.
                with contextlib.suppress(OSError):
                    seen.extend((process / name).read_bytes() for name in ("cmdline", "environ"))
            done.wait(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        storage_format(scram=["SCRAM-SHA-512=[name=admin,password=hunter2-secret]"])
    finally:
        done.set()
        watcher.join()
    assert [text for text in seen if b"StorageTool\0@" in text], "the tool was not seen"
    assert [text for text in seen if b"hunter2-secret" in text] == []


def processes() -> list[Path]:
    """Return the directories of all processes of the machine."""
    return [path for path in Path("/proc").iterdir() if path.name.isdigit()]
