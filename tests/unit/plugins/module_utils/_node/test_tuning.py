"""What is set, what is good already, and what a host forbids."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node import tuning
from ansible_collections.streamops.kafka.plugins.module_utils._node.tuning import Setting

LIMITS = "Limit  Soft  Hard  Units\nMax open files            1024                 20000                files     \n"
PLAIN_ROOT = "Name:\tsystemd\nCapEff:\t00000000a82425fb\n"
FULL_ROOT = "Name:\tsystemd\nCapEff:\t000001ffffffffff\n"


@pytest.mark.parametrize(
    ("name", "wanted", "found", "state"),
    [
        ("vm.swappiness", "1", "1", "as_wanted"),
        ("vm.swappiness", "1", "60", "set"),
        ("vm.max_map_count", "262144", "1048576", "as_wanted"),
        ("vm.max_map_count", "262144", "65530", "set"),
        ("net.ipv4.tcp_rmem", "4096 87380 6291456", "4096\t87380\t6291456", "as_wanted"),
    ],
)
def test_a_setting_is_left_when_it_is_as_wanted_or_more_than_that(
    name: str, wanted: str, found: str, state: str
) -> None:
    assert Setting(name, "/x", wanted, found).state == state


def test_what_cannot_be_written_is_forbidden_only_where_it_differs() -> None:
    assert Setting("vm.swappiness", "/x", "1", "60", "read-only on this host").state == "forbidden"
    assert Setting("vm.swappiness", "/x", "1", "1", "read-only on this host").shown()["reason"] == ""


def test_the_chosen_mode_is_the_one_in_brackets() -> None:
    assert tuning.chosen("always [madvise] never") == "madvise"
    assert tuning.chosen("60") == "60"


def test_a_setting_that_the_kernel_lacks_is_forbidden_with_its_reason() -> None:
    (found,) = tuning.read_settings({"vm.no_such_setting": 1}, "")
    assert (found.state, found.reason) == ("forbidden", "this kernel has no such setting")


def test_a_refused_write_becomes_the_reason(tmp_path: Path) -> None:
    written = tuning.write(Setting("vm.swappiness", str(tmp_path / "none" / "x"), "1", "60"))
    assert (written.state, written.reason) == ("forbidden", "No such file or directory")


def test_a_write_leaves_the_value_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "swappiness"
    path.write_text("60")
    assert tuning.write(Setting("vm.swappiness", str(path), "1", "60")).state == "set"
    assert path.read_text() == "1"


@pytest.mark.parametrize(
    ("wanted", "status", "state", "found"),
    [
        (100000, PLAIN_ROOT, "forbidden", "20000"),
        (100000, FULL_ROOT, "as_wanted", "100000"),
        (20000, PLAIN_ROOT, "as_wanted", "20000"),
    ],
)
def test_open_files_end_at_the_hard_limit_that_pid_1_may_not_raise(
    wanted: int, status: str, state: str, found: str
) -> None:
    judged = tuning.open_files(wanted, LIMITS, status)
    assert (judged.state, judged.found) == (state, found)


def test_files_for_the_next_boot_hold_what_the_host_allows_and_lower_nothing() -> None:
    settings = [
        Setting("vm.swappiness", "/proc/sys/vm/swappiness", "1", "1"),
        Setting("vm.dirty_ratio", "/proc/sys/vm/dirty_ratio", "60", "20", "read-only on this host"),
        Setting("vm.max_map_count", "/proc/sys/vm/max_map_count", "262144", "1048576"),
        Setting(tuning.HUGEPAGES, tuning.HUGEPAGES_PATH, "madvise", "always"),
        tuning.open_files(1, LIMITS, PLAIN_ROOT),
    ]
    assert tuning.kept(settings, hugepages=False).splitlines()[1:] == ["vm.swappiness = 1"]
    assert tuning.kept(settings, hugepages=True).splitlines()[1:] == [f"w {tuning.HUGEPAGES_PATH} - - - - madvise"]
    assert tuning.kept(settings[1:2], hugepages=False) == ""


def test_the_complaint_groups_what_is_forbidden_by_its_reason() -> None:
    settings = [
        Setting("vm.swappiness", "/x", "1", "60", "read-only on this host"),
        Setting("vm.dirty_ratio", "/x", "60", "20", "read-only on this host"),
        Setting("vm.none", "/x", "1", None, "this kernel has no such setting"),
    ]
    assert tuning.complaint(settings) == (
        "Kafka runs, but this host does not allow to tune it. read-only on this host: "
        "vm.swappiness (stays 60, wanted 1), vm.dirty_ratio (stays 20, wanted 60); "
        "this kernel has no such setting: vm.none (wanted 1)."
    )
    assert tuning.complaint([Setting("vm.swappiness", "/x", "1", "60")]) == ""
