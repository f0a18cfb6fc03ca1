# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel says of its clock, and which time service runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.clock import followed, service, synchronization


@pytest.mark.parametrize(
    ("state", "status", "is_followed"),
    [
        (0, 0x2001, True),  # as chrony and systemd-timesyncd leave it
        (0, 0x2041, False),  # STA_UNSYNC
        (5, 0x2040, False),  # TIME_ERROR, as after a boot
        (5, 0x0001, False),
        (1, 0x0011, True),  # a leap second is announced by a source
    ],
)
def test_a_clock_follows_a_source_unless_the_kernel_says_otherwise(state: int, status: int, is_followed: bool) -> None:
    assert followed(state, status) is is_followed


def test_this_kernel_answers() -> None:
    found = synchronization()
    assert (found["synchronized"] in (True, False)) is (found["problem"] == "")


def process(proc: Path, pid: int, name: str) -> None:
    """A process as the kernel shows it."""
    (proc / str(pid)).mkdir()
    (proc / str(pid) / "comm").write_text(f"{name}\n")


def test_the_time_service_is_found_by_its_name(tmp_path: Path) -> None:
    for pid, name in ((1, "systemd"), (300, "systemd-timesyn"), (40, "java")):
        process(tmp_path, pid, name)
    (tmp_path / "self").mkdir()
    (tmp_path / "7").mkdir()  # ended while it was looked at
    assert service(str(tmp_path)) == "systemd-timesyn"


def test_a_machine_without_one_has_none(tmp_path: Path) -> None:
    process(tmp_path, 1, "chrony-wait")
    assert service(str(tmp_path)) == ""
