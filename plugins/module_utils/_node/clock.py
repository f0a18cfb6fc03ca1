# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether something keeps the clock of this machine right, asked of the kernel.

Every time service (chrony, ntpd, systemd-timesyncd, ptp4l) tells the kernel when the clock follows a source, and the
kernel takes that back when nothing was heard for long (STA_UNSYNC, adjtimex(2)). C(timedatectl) shows the same bit. So
it also holds in a container, whose clock another machine keeps.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

#: Names of time services as the kernel shows them (at most 15 characters).
SERVICES = ("chronyd", "ntpd", "systemd-timesyn", "openntpd", "ptp4l", "phc2sys")
_STA_UNSYNC = 0x0040
_TIME_ERROR = 5


class _Timeval(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("microseconds", ctypes.c_long))


class _Timex(ctypes.Structure):
    """struct timex of adjtimex(2); what stands behind tick is not read."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("frequency", ctypes.c_long),
        ("maximum_error", ctypes.c_long),
        ("estimated_error", ctypes.c_long),
        ("status", ctypes.c_int),
        ("constant", ctypes.c_long),
        ("precision", ctypes.c_long),
        ("tolerance", ctypes.c_long),
        ("time", _Timeval),
        ("tick", ctypes.c_long),
        ("rest", ctypes.c_byte * 128),
    )


def synchronization() -> dict[str, Any]:
    """Return synchronized (None when the kernel does not tell), service ('' when none is seen here), problem."""
    timex = _Timex()
    try:
        state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(timex))
    except (OSError, AttributeError) as error:
        return {"synchronized": None, "service": service(), "problem": f"the kernel cannot be asked: {error}"}
    if state < 0:
        why = os.strerror(ctypes.get_errno())
        return {"synchronized": None, "service": service(), "problem": f"the kernel does not tell: {why}"}
    return {"synchronized": followed(state, timex.status), "service": service(), "problem": ""}


def followed(state: int, status: int) -> bool:
    """Return whether a clock follows a source, from what adjtimex returned and its status bits."""
    return state != _TIME_ERROR and not status & _STA_UNSYNC


def service(proc: str = "/proc") -> str:
    """The name of the first time service that runs on this machine, '' when none is seen."""
    for entry in sorted(os.listdir(proc)):
        if entry.isdigit():
            try:
                with open(os.path.join(proc, entry, "comm"), encoding="utf-8", errors="replace") as file:
                    name = file.read().strip()
            except OSError:
                continue  # It ended just now.
            if name in SERVICES:
                return name
    return ""
