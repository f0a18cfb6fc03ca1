"""Start files of a node as generations, written for real: staged, switched to, proven, and switched back from."""

from __future__ import annotations

import contextlib
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.modules import run_module
from tests.support.power import disk

OLD = {"server.properties": "a=1\n", "jvm.options": "-Xmx1g\n"}
NEW = {"server.properties": "a=2\n", "jvm.options": "-Xmx2g\n"}


def generation(conf: Path, state: str, texts: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    files = [{"path": str(conf / name), "content": text, "mode": "0640"} for name, text in (texts or {}).items()]
    options = {"path": str(conf), "state": state, "files": files, **more}
    how = {name: options.pop(name) for name in ("check", "diff") if name in options}
    return run_module("streamops.kafka.node_generation", options, **how)


def used(conf: Path) -> dict[str, str]:
    """What a process that starts now would read."""
    return {name: (conf / name).read_text() for name in ("server.properties", "jvm.options")}


def looked(conf: Path) -> dict[str, Any]:
    seen: dict[str, Any] = run_module("streamops.kafka.node_info", {"config_dir": str(conf)})["start_files"]
    return seen


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    """A node that runs with its first files, and has proven them."""
    made = generation(tmp_path, "current", OLD)
    assert made["changed"]
    assert not made.get("failed"), made.get("msg")
    assert used(tmp_path) == OLD
    assert generation(tmp_path, "proven", check=True)["changed"]
    assert generation(tmp_path, "proven")["changed"]
    return tmp_path


def test_the_same_files_again_change_nothing_and_make_no_generation(conf: Path) -> None:
    for state in ("staged", "current"):
        again = generation(conf, state, OLD)
        assert (again["changed"], again["changed_paths"]) == (False, [])
    assert not generation(conf, "proven")["changed"]
    assert len(list((conf / "generations").iterdir())) == 1
    assert again["generations"]["staged"] is None
    assert oct(stat.S_IMODE((conf / "generations").stat().st_mode)) == "0o750"


def test_what_is_staged_waits_until_the_switch(conf: Path) -> None:
    planned = generation(conf, "staged", NEW, check=True, diff=True)
    assert planned["changed"]
    assert [(one["before"], one["after"]) for one in planned["diff"]] == [("-Xmx1g\n", "-Xmx2g\n"), ("a=1\n", "a=2\n")]
    assert planned["generations"]["staged"] is None
    staged = generation(conf, "staged", NEW)
    assert staged["changed"]
    assert staged["changed_paths"] == [str(conf / "jvm.options"), str(conf / "server.properties")]
    assert used(conf) == OLD
    assert not generation(conf, "staged", NEW)["changed"], "it waits already"
    assert generation(conf, "current", check=True)["changed"]
    assert used(conf) == OLD
    assert generation(conf, "current")["changed"]
    assert used(conf) == NEW
    assert not generation(conf, "current")["changed"]
    proven = generation(conf, "proven")
    assert proven["changed"]
    assert proven["generations"]["staged"] is None
    assert proven["generations"]["proven"] == proven["generations"]["current"]
    # With the one that the node was whole with before it, which only a quorum without a leader is given back.
    kept = {(conf / link).readlink().name for link in ("current", "earlier")}
    assert {path.name for path in (conf / "generations").iterdir()} == kept
    assert len(kept) == 2


def test_what_waits_is_forgotten_when_it_is_wanted_no_more(conf: Path) -> None:
    generation(conf, "staged", NEW)
    assert generation(conf, "staged", OLD)["changed"]
    assert not generation(conf, "current")["changed"]
    assert used(conf) == OLD


def test_a_node_goes_back_and_the_same_files_are_refused_until_they_differ(conf: Path) -> None:
    generation(conf, "staged", NEW)
    generation(conf, "current")
    back = generation(conf, "previous", why="a=2 is out of range")
    assert back["changed"]
    assert back["changed_paths"] == [str(conf / "jvm.options"), str(conf / "server.properties")]
    assert used(conf) == OLD
    failed = conf / "failed"
    assert (failed / "why-it-failed.txt").read_text() == "a=2 is out of range"
    assert (failed / "server.properties").read_text() == "a=2\n"
    assert (looked(conf)["failed"], looked(conf)["why_failed"]) == (failed.readlink().name, "a=2 is out of range")
    for check in (True, False):
        refused = generation(conf, "staged", NEW, check=check)
        assert refused["failed"]
        assert "did not come back" in refused["msg"]
        assert "a=2 is out of range" in refused["msg"]
        assert "kafka_retry_generation=true" in refused["msg"]
        assert "does not serve now" not in refused["msg"]
    # So is a node asked that is down.
    assert "This node does not serve now; the next run with other" in generation(conf, "current", NEW)["msg"]
    assert used(conf) == OLD
    assert looked(conf)["failed"]
    assert not generation(conf, "staged", OLD)["changed"]
    assert (looked(conf)["failed"], looked(conf)["why_failed"]) == (None, ""), "it is wanted no more"
    assert generation(conf, "staged", NEW)["failed"], "and refused all the same"
    assert generation(conf, "staged", {**NEW, "server.properties": "a=3\n"})["changed"], "other files are no retry"
    assert generation(conf, "staged", NEW, retry=True)["changed"]
    assert generation(conf, "current")["changed"]
    assert used(conf) == NEW
    assert not generation(conf, "previous", why="")["generations"]["staged"]


def test_the_first_files_of_a_node_may_be_given_with_retry(tmp_path: Path) -> None:
    made = generation(tmp_path, "current", OLD, retry=True)
    assert not made.get("failed"), made.get("msg")
    assert used(tmp_path) == OLD


def test_a_refused_place_leaves_what_failed_open(conf: Path) -> None:
    """What was given up stays a finding of status until files were really taken."""
    generation(conf, "staged", NEW)
    generation(conf, "current")
    generation(conf, "previous", why="no")
    (conf / "metrics.yml").mkdir()
    assert generation(conf, "staged", {**OLD, "metrics.yml": ""}, retry=True)["failed"]
    assert looked(conf)["why_failed"] == "no"


def test_without_a_way_back_nothing_changes(conf: Path) -> None:
    assert not generation(conf, "previous", why="never")["changed"]
    assert used(conf) == OLD


def test_the_way_back_leads_to_what_was_proven_last(conf: Path) -> None:
    """A run that was cut behind a switch has proven nothing; the next one goes back past it."""
    generation(conf, "staged", NEW)
    generation(conf, "current")
    generation(conf, "current", {**NEW, "server.properties": "a=3\n"})
    generation(conf, "previous", why="neither")
    assert used(conf) == OLD


def test_an_older_installation_is_taken_over_and_keeps_every_path(tmp_path: Path) -> None:
    for name, text in OLD.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o640)
    (tmp_path / "has-data").write_text("note\n")
    taken = generation(tmp_path, "staged", NEW)
    assert not taken.get("failed"), taken.get("msg")
    assert used(tmp_path) == OLD
    assert (tmp_path / "server.properties").is_symlink()
    assert not (tmp_path / "has-data").is_symlink(), "what is no start file stays where it is"
    generation(tmp_path, "current")
    assert used(tmp_path) == NEW
    generation(tmp_path, "previous", why="back")
    assert used(tmp_path) == OLD


def test_files_edited_by_hand_are_found_through_the_link_and_in_its_place(conf: Path) -> None:
    (conf / "jvm.options").write_text("-Xmx9g\n")
    (conf / "server.properties").unlink()
    (conf / "server.properties").write_text("a=9\n")
    assert looked(conf)["edited"] == ["jvm.options", "server.properties"]
    found = generation(conf, "staged", OLD, diff=True)
    assert [one["before"] for one in found["diff"]] == ["-Xmx9g\n", "a=9\n"]
    assert used(conf) == {"jvm.options": "-Xmx9g\n", "server.properties": "a=9\n"}, "the node was not restarted yet"
    generation(conf, "current")
    assert used(conf) == OLD
    assert looked(conf)["edited"] == []
    (conf / "jvm.options").chmod(0o666)
    assert generation(conf, "staged", OLD)["changed"]
    assert oct(stat.S_IMODE((conf / "jvm.options").stat().st_mode)) == "0o640"


def test_removed_files_and_a_current_that_is_no_link_count_as_edited(conf: Path) -> None:
    """Else nobody learns before the next crash that the node cannot start."""
    (conf / "generations").rename(conf / "kept")
    assert looked(conf)["edited"] == ["jvm.options", "server.properties"]
    generation(conf, "current", NEW)
    assert looked(conf)["edited"] == []
    (conf / "current").rename(conf / "link")
    shutil.copytree(conf / "link", conf / "current")
    assert looked(conf)["edited"] == ["current"]


def test_files_come_and_go_with_their_generation(conf: Path) -> None:
    more = {**NEW, "metrics.yml": "rules: []\n"}
    generation(conf, "staged", more)
    assert not (conf / "metrics.yml").exists()
    generation(conf, "current")
    assert (conf / "metrics.yml").read_text() == "rules: []\n"
    generation(conf, "previous", why="no metrics")
    assert not (conf / "metrics.yml").exists()
    generation(conf, "current", {**more, "server.properties": "a=3\n"})
    generation(conf, "proven")
    generation(conf, "current", NEW, retry=True)
    generation(conf, "proven")
    assert not (conf / "metrics.yml").exists()
    assert used(conf) == NEW
    # The link stays for the generation before, and goes with it.
    generation(conf, "current", OLD)
    generation(conf, "proven")
    assert not (conf / "metrics.yml").is_symlink()
    assert used(conf) == OLD


def test_a_secret_is_never_shown(conf: Path) -> None:
    secret = [{"path": str(conf / "jaas.conf"), "content": "hunter22", "mode": "0440"}]
    result = generation(conf, "staged", OLD, secret_files=secret, diff=True)
    assert "hunter22" not in str(result)
    assert result["diff"][0]["after"] == "new content\n"


@pytest.mark.parametrize("name", ["current", "generations", "why-it-failed.txt", "x.new"])
def test_names_that_the_directory_needs_itself_are_refused(conf: Path, name: str) -> None:
    refused = generation(conf, "staged", {name: ""})
    assert refused["failed"]
    assert "is no name for a start file" in refused["msg"]
    assert used(conf) == OLD


def test_wrong_places_are_refused_before_anything_is_written(conf: Path, tmp_path: Path) -> None:
    outside = [{"path": str(tmp_path / "tls" / "keystore.pem"), "content": "", "mode": "0440"}]
    refused = generation(conf, "staged", NEW, secret_files=outside)
    assert "is not right in" in refused["msg"]
    (conf / "metrics.yml").mkdir()
    refused = generation(conf, "staged", {**NEW, "metrics.yml": ""})
    assert "something that is no file stands there" in refused["msg"]
    assert (conf / "staged").exists() is False
    missing = generation(tmp_path / "none", "current", NEW)
    assert "is not a directory" in missing["msg"]


@pytest.mark.parametrize("target", [None, "/nowhere", "generations/none/jvm.options"])
def test_a_missing_or_dangling_link_of_a_file_is_made_again(conf: Path, target: str | None) -> None:
    """Without it the node would not start, and the text of its generation is as wanted."""
    (conf / "jvm.options").unlink()
    if target:
        (conf / "jvm.options").symlink_to(target)
    assert looked(conf)["edited"] == ["jvm.options"]
    assert generation(conf, "staged", OLD, check=True)["changed"]
    assert not (conf / "jvm.options").exists()
    made = generation(conf, "staged", OLD)
    assert (made["changed"], made["generations"]["staged"]) == (True, None)
    assert used(conf) == OLD
    assert not generation(conf, "staged", OLD)["changed"]


def test_a_current_link_to_another_place_is_taken_over_with_its_content(conf: Path, tmp_path: Path) -> None:
    (conf / "mine").mkdir()
    for name, text in {**OLD, "jvm.options": "-Xmx9g\n"}.items():
        (conf / "mine" / name).write_text(text)
    (conf / "current").unlink()
    (conf / "current").symlink_to("mine")
    staged = generation(conf, "staged", OLD)
    assert staged["changed_paths"] == [str(conf / "jvm.options")]
    assert used(conf)["jvm.options"] == "-Xmx9g\n"
    generation(conf, "current")
    assert used(conf) == OLD
    assert (conf / "mine" / "jvm.options").read_text() == "-Xmx9g\n"


@pytest.mark.parametrize("name", ["current", "staged", "proven", "failed", "generations"])
def test_what_is_no_link_in_the_place_of_one_is_refused_and_named(conf: Path, name: str) -> None:
    """A copy or a backup that followed the links leaves directories."""
    if name == "generations":
        (conf / name).rename(conf / "moved")
    elif (conf / name).is_symlink():
        (conf / name).unlink()
    if name == "generations":
        (conf / name).write_text("")
    else:
        (conf / name).mkdir()
    refused = generation(conf, "staged", NEW)
    assert refused["failed"]
    assert f"{conf / name}: " in refused["msg"]
    assert "nothing was written" in refused["msg"]


def test_strange_things_beside_generations_stop_no_switch_and_stay(conf: Path) -> None:
    (conf / "generations" / "README").write_text("mine\n")
    (conf / "generations" / "link").symlink_to(conf)
    generation(conf, "staged", NEW)
    switched = generation(conf, "current")
    assert switched["changed"]
    assert not generation(conf, "previous", why="no").get("failed")
    assert used(conf) == OLD
    assert (conf / "generations" / "README").exists()


def test_an_edit_by_hand_that_the_node_never_started_with_is_no_way_back(conf: Path) -> None:
    (conf / "server.properties").write_text("garbage\n")
    generation(conf, "staged", OLD)
    generation(conf, "current", keep_edited=False)
    generation(conf, "current", NEW)
    generation(conf, "previous", why="a=2 is out of range")
    assert used(conf) == OLD


def test_an_edit_by_hand_is_a_way_back_where_the_node_may_have_started_with_it(conf: Path) -> None:
    (conf / "server.properties").write_text("a=9\n")
    generation(conf, "current", NEW)
    generation(conf, "previous", why="a=2 is out of range")
    assert used(conf)["server.properties"] == "a=9\n"


def test_a_node_with_a_broken_value_under_another_goes_back_past_both(
    conf: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The run of the first was cut behind the start: the node runs and listens, and nobody has seen it whole."""
    broken = {**NEW, "server.properties": "broker.heartbeat.interval.ms=600000\n"}
    generation(conf, "staged", broken)
    generation(conf, "current")
    started = tmp_path_factory.mktemp("started")
    for name, text in broken.items():
        (started / name).write_text(text)
    third = {**NEW, "jvm.options": "-javaagent:/no/such.jar\n"}
    staged = generation(conf, "staged", third, started=str(started))
    assert (staged["unproven"], looked(conf)["proven"]) == (True, staged["generations"]["proven"])
    generation(conf, "current")
    assert used(conf) == third
    back = generation(conf, "previous", why="it is not whole")
    assert back["changed_paths"] == [str(conf / "jvm.options"), str(conf / "server.properties")]
    assert used(conf) == OLD
    assert not generation(conf, "previous", why="again")["changed"]


def test_a_node_that_was_never_whole_has_nothing_to_go_back_to(tmp_path: Path) -> None:
    generation(tmp_path, "current", OLD)
    generation(tmp_path, "current", NEW)
    back = generation(tmp_path, "previous", why="never whole", check=True)
    assert (back["changed"], back["generations"]["proven"]) == (False, None)
    assert not generation(tmp_path, "previous", why="never whole")["changed"]
    assert used(tmp_path) == NEW


def test_files_taken_up_without_a_restart_are_proven_by_no_start_from_before(
    conf: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A file of which no start record has a copy may be all that differs."""
    started = tmp_path_factory.mktemp("started")
    for name, text in OLD.items():
        (started / name).write_text(text)
    more = {**OLD, "log4j2.yaml": "Configuration: {}\n"}
    generation(conf, "staged", more)
    generation(conf, "current", keep_edited=False)
    assert not generation(conf, "staged", more, started=str(started))["unproven"]
    for name, text in OLD.items():
        (started / name).write_text(text)
    assert generation(conf, "staged", more, started=str(started))["unproven"]


def test_what_the_machine_does_not_take_is_told_and_leaves_what_the_node_starts_with(conf: Path) -> None:
    """The generation fits, the link of its file does not: a name of 252 characters has no room for what is behind."""
    refused = generation(conf, "staged", {**NEW, "x" * 252: ""})
    assert refused["failed"]
    assert f"File name too long ({conf}/x" in refused["msg"]
    assert "one whole set" in refused["msg"]
    assert used(conf) == OLD
    assert generation(conf, "staged", NEW)["changed"]


def test_a_disk_that_is_full_keeps_no_node_from_its_older_files(tmp_path: Path) -> None:
    """It filled behind the staging. The switches need no block, and why the node went back is said by its run too."""
    conf = tmp_path / "conf"
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(disk(conf, 4))
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"this machine lets no test mount a file system: {error}")
        generation(conf, "current", OLD)
        generation(conf, "proven")
        generation(conf, "staged", NEW)
        ballast = conf / "ballast"
        with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
            while file.write(b"x" * 1024):
                pass
        assert generation(conf, "current")["changed"]
        assert used(conf) == NEW
        back = generation(conf, "previous", why="a=2 is out of range")
        assert not back.get("failed"), back["msg"]
        assert used(conf) == OLD
        ballast.unlink()
        refused = generation(conf, "staged", NEW)
        assert "did not come back" in refused["msg"]
        assert "Why it did not: it could not be written then" in refused["msg"]
        assert generation(conf, "staged", OLD)["changed"] is False


def test_a_copy_that_another_program_reads_follows_each_switch(
    conf: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Such as a unit: one that names the disks of files that wait would not start the files in use."""
    at = tmp_path_factory.mktemp("units") / "kafka.service"
    copies = [{"name": "kafka.service", "path": str(at), "mode": "0644"}]
    without = generation(conf, "staged", NEW, copies=copies)
    assert (without["copied_paths"], at.exists()) == ([], False), "the files in use have no unit"
    first, second = ({**NEW, "kafka.service": f"[Unit]\nDescription={one}\n"} for one in "ab")
    generation(conf, "staged", first, copies=copies)
    assert not at.exists()
    seen = generation(conf, "current", copies=copies, check=True)
    assert (seen["changed"], at.exists()) == (True, False)
    assert generation(conf, "current", copies=copies)["copied_paths"] == [str(at)]
    assert (at.read_text(), stat.S_IMODE(at.stat().st_mode)) == (first["kafka.service"], 0o644)
    generation(conf, "proven")
    generation(conf, "staged", second, copies=copies)
    assert at.read_text() == first["kafka.service"]
    generation(conf, "current", copies=copies)
    assert at.read_text() == second["kafka.service"]
    assert generation(conf, "previous", why="no", copies=copies)["copied_paths"] == [str(at)]
    assert at.read_text() == first["kafka.service"]
    (conf / "kafka.service").write_text("[Unit]\nDescription=by hand\n")
    seen = generation(conf, "staged", first, copies=copies)
    assert (seen["copied_paths"], at.read_text()) == ([], first["kafka.service"]), "an edit goes live nowhere else"
    generation(conf, "current", keep_edited=False, copies=copies)
    at.write_text("by hand\n")
    mended = generation(conf, "staged", first, copies=copies, diff=True)
    assert (mended["changed"], at.read_text()) == (True, first["kafka.service"])
    assert [(one["before_header"], one["before"]) for one in mended["diff"]] == [(str(at), "by hand\n")]
    assert not generation(conf, "staged", first, copies=copies)["changed"]


def test_a_restart_whose_run_was_cut_is_told(conf: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    record = tmp_path_factory.mktemp("started")
    generation(conf, "staged", NEW)
    generation(conf, "current")
    for name in NEW:
        (record / name).write_text(OLD[name])
    assert not generation(conf, "staged", NEW, started=str(record))["unproven"], "it has not started with them yet"
    for name in NEW:
        (record / name).write_text(NEW[name])
    assert generation(conf, "staged", NEW, started=str(record))["unproven"]
    generation(conf, "proven")
    assert not generation(conf, "staged", NEW, started=str(record))["unproven"]


def test_something_else_in_the_place_of_a_copy_is_refused_before_anything_is_switched(
    conf: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    at = tmp_path_factory.mktemp("units") / "kafka.service"
    at.mkdir()
    copies = [{"name": "kafka.service", "path": str(at), "mode": "0644"}]
    generation(conf, "staged", {**NEW, "kafka.service": "[Unit]\n"})
    refused = generation(conf, "current", copies=copies)
    assert refused["failed"]
    assert str(at) in refused["msg"]
    assert used(conf) == OLD


def around(conf: Path) -> dict[str, Any]:
    """A directory and two files of the node that belong to no generation."""
    return {
        "directories": [{"path": str(conf / "tls"), "mode": "0750"}],
        "other_files": [{"path": str(conf / "tls" / "truststore.pem"), "content": "ca\n", "mode": "0440"}],
        "secret_other_files": [{"path": str(conf / "tls" / "keystore.pem"), "content": "geheim\n", "mode": "0440"}],
    }


def test_one_call_writes_all_that_a_node_is(tmp_path: Path) -> None:
    conf = tmp_path / "config" / "a"
    beside = around(conf)
    beside["directories"].insert(0, {"path": str(conf), "mode": "0750"})
    planned = generation(conf, "staged", OLD, check=True, diff=True, **beside)
    written = [*(one["path"] for kind in beside.values() for one in kind)]
    assert planned["changed_paths"] == [*written, str(conf / "jvm.options"), str(conf / "server.properties")]
    assert not conf.exists()
    assert "geheim" not in str(planned)
    made = generation(conf, "current", OLD, diff=True, **beside)
    assert (made["changed"], made["changed_paths"]) == (True, planned["changed_paths"])
    assert used(conf) == OLD
    assert (conf / "tls" / "keystore.pem").read_text() == "geheim\n"
    assert oct(stat.S_IMODE((conf / "tls").stat().st_mode)) == "0o750"
    again = generation(conf, "current", OLD, diff=True, **beside)
    assert (again["changed"], again["changed_paths"], again["diff"]) == (False, [], [])


def test_a_file_beside_the_generation_is_mended_while_the_start_files_wait(conf: Path) -> None:
    generation(conf, "staged", OLD, **around(conf))
    (conf / "tls" / "truststore.pem").chmod(0o600)
    (conf / "tls" / "truststore.pem").write_text("by hand\n")
    mended = generation(conf, "staged", NEW, **around(conf))
    assert (conf / "tls" / "truststore.pem").read_text() == "ca\n"
    assert mended["changed_paths"][0] == str(conf / "tls" / "truststore.pem")
    assert used(conf) == OLD


def test_what_is_refused_writes_no_file_beside_the_generation(conf: Path) -> None:
    generation(conf, "staged", NEW)
    generation(conf, "current")
    generation(conf, "previous", why="a=2 is out of range")
    refused = generation(conf, "staged", NEW, **around(conf))
    assert "did not come back" in refused["msg"]
    assert not (conf / "tls").exists()
    (conf / "tls").write_text("a file")
    refused = generation(conf, "staged", OLD, **around(conf))
    assert f"{conf / 'tls'}: something that is no directory stands there" in refused["msg"]
    assert (conf / "tls").read_text() == "a file"


def test_a_disk_that_takes_no_generation_tells_what_was_written_beside_it(conf: Path) -> None:
    shutil.rmtree(conf / "generations")
    (conf / "generations").symlink_to(conf / "nowhere")
    failed = generation(conf, "staged", NEW, diff=True, **around(conf))
    assert failed["failed"], failed
    assert failed["changed"] is (conf / "tls").exists()


def test_a_file_that_cannot_be_written_tells_what_was_written_before_it(conf: Path) -> None:
    more = around(conf)
    more["other_files"].append({"path": str(conf / "nowhere" / "a.pem"), "content": "", "mode": "0440"})
    failed = generation(conf, "staged", NEW, diff=True, **more)
    assert failed["failed"]
    assert failed["changed"], failed
    assert (conf / "tls" / "truststore.pem").exists()
    assert used(conf) == OLD
    assert generation(conf, "staged", NEW)["generations"]["staged"], "nothing waited before"


def test_a_directory_may_be_written_in_two_ways(tmp_path: Path) -> None:
    conf = tmp_path / "config"
    made = generation(conf, "current", OLD, directories=[{"path": f"{conf}/", "mode": "0750"}])
    assert (made["changed"], made["differs"]) == (True, True)
    assert used(conf) == OLD
