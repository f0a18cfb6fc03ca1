"""What is checked before the storage tool runs, what it is told, and what is said about its failure."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import parse
from ansible_collections.streamops.kafka.plugins.module_utils._node.format import (
    FormatError,
    arguments,
    overridden,
    storage_format,
    why,
)

VOTERS = "1@h:9093:dirAAAAAAAAAAAAAAAAAAA"


class Tool:
    """Stands for java: notes how it was called, writes what it would write, or fails."""

    def __init__(self, code: int = 0, err: str = "", cluster: str = "clusterA") -> None:
        self.code, self.err, self.cluster = code, err, cluster
        self.command: list[str] = []
        self.words: list[str] = []
        self.config: dict[str, str] = {}
        self.modes: set[int] = set()
        self.place = Path()

    def __call__(self, command: list[str], seconds: float, **options: Any) -> tuple[int, str, str]:
        self.command, self.umask = command, options["umask"]
        argument_file = Path(command[-1][1:])
        self.place = argument_file.parent
        self.words = argument_file.read_text().splitlines()
        self.config = parse((self.place / "server.properties").read_text())
        self.modes = {stat.S_IMODE(path.stat().st_mode) for path in self.place.iterdir()}
        self.place_mode = stat.S_IMODE(self.place.stat().st_mode)
        if self.code == 0:
            for path in self.config["log.dirs"].split(","):
                os.makedirs(path, exist_ok=True)
                Path(path, "meta.properties").write_text(f"version=1\nnode.id=1\ncluster.id={self.cluster}\n")
        return self.code, "Bootstrap metadata: salt", self.err


@pytest.fixture
def params(tmp_path: Path) -> dict[str, Any]:
    config = tmp_path / "server.properties"
    config.write_text("node.id=1\nlog.dirs=/somewhere/else\nssl.key.password=geheim\n")
    return {
        "java": "java",
        "release_dir": "/opt/release",
        "class_path": None,
        "config": str(config),
        "cluster_id": "clusterA",
        "node_id": 1,
        "log_dirs": [str(tmp_path / "one"), str(tmp_path / "two")],
        "metadata_dir": "",
        "initial_controllers": VOTERS,
        "standalone": False,
        "no_initial_controllers": False,
        "features": None,
        "release_version": None,
        "scram": None,
        "owner": None,
        "group": None,
    }


def formatted(path: str, cluster: str = "clusterA", node: int = 1) -> None:
    os.makedirs(path)
    Path(path, "meta.properties").write_text(f"version=1\nnode.id={node}\ncluster.id={cluster}\n")


def test_formats_absent_directories_and_says_what_stands_there_now(params: dict[str, Any]) -> None:
    tool = Tool()
    result = storage_format(params, check=False, run=tool)
    assert (result["changed"], result["formatted"]) == (True, params["log_dirs"])
    assert {meta["cluster.id"] for meta in result["meta_properties"].values()} == {"clusterA"}
    assert tool.config["log.dirs"] == ",".join(params["log_dirs"])
    assert tool.config["metadata.log.dir"] == params["log_dirs"][0]


def test_a_second_run_changes_nothing_and_starts_no_tool(params: dict[str, Any]) -> None:
    storage_format(params, check=False, run=Tool())
    result = storage_format(params, check=False, run=Tool(code=1))
    assert (result["changed"], result["formatted"]) == (False, [])


def test_check_mode_says_what_it_would_format_and_touches_nothing(params: dict[str, Any]) -> None:
    result = storage_format(params, check=True, run=Tool(code=1))
    assert (result["changed"], result["formatted"]) == (True, params["log_dirs"])
    assert "not formatted" in result["diff"]["before"]
    assert "cluster.id=clusterA node.id=1" in result["diff"]["after"]
    assert not any(os.path.exists(path) for path in params["log_dirs"])


@pytest.mark.parametrize(
    ("cluster", "node", "said"), [("clusterB", 1, "cluster id clusterB"), ("clusterA", 7, "node id 7")]
)
def test_refuses_a_directory_with_other_ids_and_names_them(
    params: dict[str, Any], cluster: str, node: int, said: str
) -> None:
    formatted(params["log_dirs"][1], cluster, node)
    with pytest.raises(RefusedError, match=said):
        storage_format(params, check=False, run=Tool())
    assert not os.path.exists(params["log_dirs"][0])


@pytest.mark.parametrize(
    ("name", "said"), [("photo.jpg", "files without meta.properties"), ("bootstrap.checkpoint", "format that was cut")]
)
def test_refuses_a_directory_with_anything_else_in_it(params: dict[str, Any], name: str, said: str) -> None:
    os.makedirs(params["log_dirs"][0])
    Path(params["log_dirs"][0], name).write_text("")
    with pytest.raises(RefusedError, match=said):
        storage_format(params, check=True, run=Tool())


def test_goes_on_with_the_empty_directories_of_a_first_format_that_was_cut(params: dict[str, Any]) -> None:
    formatted(params["log_dirs"][0])
    tool = Tool()
    assert storage_format(params, check=False, run=tool)["formatted"] == [params["log_dirs"][1]]
    assert tool.config["log.dirs"] == params["log_dirs"][1]
    # The voter's directory id stands in the metadata directory already: no second directory may claim it.
    assert "--no-initial-controllers" in tool.words


def test_an_empty_directory_beside_one_that_was_in_use_is_refused(params: dict[str, Any]) -> None:
    formatted(params["log_dirs"][0])
    Path(params["log_dirs"][0], "topic-0").mkdir()
    with pytest.raises(RefusedError, match="cluster id clusterA"):
        storage_format(params, check=False, run=Tool())


def test_a_metadata_directory_apart_is_formatted_too(params: dict[str, Any], tmp_path: Path) -> None:
    tool = Tool()
    params["metadata_dir"] = str(tmp_path / "metadata")
    assert storage_format(params, check=False, run=tool)["formatted"] == [*params["log_dirs"], params["metadata_dir"]]
    assert tool.config["metadata.log.dir"] == params["metadata_dir"]


def test_no_secret_is_in_argv_and_all_files_of_the_call_are_private_and_removed(params: dict[str, Any]) -> None:
    tool = Tool()
    storage_format({**params, "scram": ["SCRAM-SHA-512=[name=a,password=hunter2]"]}, check=False, run=tool)
    assert "hunter2" not in " ".join(tool.command)
    assert "--add-scram=SCRAM-SHA-512=[name=a,password=hunter2]" in tool.words
    assert (tool.modes, tool.place_mode, tool.umask) == ({0o600}, 0o700, 0o027)
    assert not tool.place.exists()


def test_a_failure_says_what_the_tool_said_and_leaves_no_file(params: dict[str, Any]) -> None:
    tool = Tool(code=1, err="log4j:WARN noise\nInvalid cluster id\n\tat kafka.Some.method")
    with pytest.raises(FormatError, match=r"failed with 1: Invalid cluster id \(directories") as caught:
        storage_format(params, check=False, run=tool)
    assert "noise" not in str(caught.value)
    assert not tool.place.exists()


def test_a_tool_that_wrote_something_else_is_not_believed(params: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match="reported success, but found"):
        storage_format(params, check=False, run=Tool(cluster="clusterB"))


def test_a_missing_configuration_is_said_before_anything_is_formatted(params: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match="No such file"):
        storage_format({**params, "config": "/nowhere/server.properties"}, check=False, run=Tool())


@pytest.mark.parametrize(
    ("text", "said"), [("node.id=7\n", "node.id 7"), ("", "node.id None"), ("a=\\u1", "malformed")]
)
def test_properties_of_another_node_are_refused_before_anything_is_formatted(
    params: dict[str, Any], text: str, said: str
) -> None:
    Path(params["config"]).write_text(text)
    tool = Tool()
    with pytest.raises(FormatError, match=said):
        storage_format(params, check=False, run=tool)
    assert tool.command == []


def test_two_quorum_options_exclude_each_other(params: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match="initial_controllers and standalone exclude"):
        storage_format({**params, "standalone": True}, check=True, run=Tool())


def test_arguments_name_each_option_with_its_value(params: dict[str, Any]) -> None:
    full = {**params, "features": {"transaction.version": 2}, "release_version": "4.3-IV0"}
    assert arguments(full, params["log_dirs"], "/c") == [
        "format",
        "--config=/c",
        "--cluster-id=clusterA",
        f"--initial-controllers={VOTERS}",
        "--release-version=4.3-IV0",
        "--feature=transaction.version=2",
    ]
    static = {**params, "initial_controllers": None}
    assert arguments(static, params["log_dirs"], "/c")[3:] == []


def test_the_directories_that_were_checked_replace_those_of_the_file(params: dict[str, Any]) -> None:
    text = overridden("node.id=1\nlog.dirs=/a,/b\nmetadata.log.dir=/m", params, ["/x"])
    assert parse(text) == {"node.id": "1", "log.dirs": "/x", "metadata.log.dir": "/x"}


def test_with_scram_credentials_no_line_that_may_name_them_is_returned(params: dict[str, Any]) -> None:
    with_scram = {**params, "scram": ["x"]}
    told = why("", "Failed to parse scram [name=a,password=hunter2]\nUsage error", with_scram)
    assert told == "Usage error"


def test_what_was_made_belongs_to_the_named_owner_even_when_the_tool_failed(
    params: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[str, Any, Any]] = []
    monkeypatch.setattr(shutil, "chown", lambda path, owner, group: given.append((str(path), owner, group)))
    params.update(owner="kafka", group="kafka")
    storage_format(params, check=False, run=Tool())
    top = params["log_dirs"][0]
    assert (top, "kafka", "kafka") in given
    assert (os.path.join(top, "meta.properties"), "kafka", "kafka") in given

    given.clear()
    directory = Path(params["log_dirs"][1] if len(params["log_dirs"]) > 1 else top)
    shutil.rmtree(directory)
    directory.mkdir()
    with pytest.raises(FormatError):
        storage_format(params, check=False, run=Tool(code=1))
    assert (str(directory), "kafka", "kafka") in given
