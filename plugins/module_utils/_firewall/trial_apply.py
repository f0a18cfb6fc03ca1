# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A table on trial: the machine itself puts the previous one back unless the run confirms in time.

What comes back is a file TOKEN.nft. Confirming and putting back both begin by renaming it, which only one of them can,
so each trial ends in exactly one of the two ways.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid

from .._core.commands import detach, run
from .._core.errors import StreamopsError
from .text import FAMILY, TABLE

#: Below /run, so that a reboot ends every trial: then the file of the previous table is loaded.
DIRECTORY = "/run/streamops-kafka-firewall"
#: Name of the timer of a trial, with its token behind it.
UNIT = "streamops-kafka-firewall-back-"
# Longest time in seconds for one call of systemd or nft.
_SECONDS = 30.0
# $0 nft, $1 TOKEN without its ending. Where the previous table does not load, no table is better than the one on trial.
_BACK = f"""mv "$1.nft" "$1.back" 2>/dev/null || exit 0
"$0" --file "$1.back" || "$0" delete table {FAMILY} {TABLE}
rm -f "$1.back"
echo "The table {FAMILY} {TABLE} was not confirmed: the previous one is back."
"""
# $2 seconds. It looks every second whether the trial still runs, so that it ends with it.
_WAIT = f"""n=0
while [ "$n" -lt "$2" ]; do [ -e "$1.nft" ] || exit 0; sleep 1; n=$((n + 1)); done
{_BACK}"""


class TrialError(StreamopsError):
    """The machine cannot put a table back by itself."""


def script(listing: str) -> str:
    """Return what nft loads to replace our table by the listed one; an empty listing leaves none."""
    return f"table {FAMILY} {TABLE}\ndelete table {FAMILY} {TABLE}\n{listing}"


def running(directory: str) -> list[str]:
    """Return the trials that were neither confirmed nor ended: paths without their ending."""
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return []
    return [os.path.join(directory, name[: -len(".nft")]) for name in names if name.endswith(".nft")]


def previous(directory: str) -> str | None:
    """Return the script that a running trial would load; None without one."""
    for one in running(directory):
        with contextlib.suppress(OSError), open(f"{one}.nft", encoding="utf-8") as file:
            return file.read()
    return None


def begin(nft: str, directory: str, text: str, seconds: int) -> None:
    """Start the way back to the table of this script, in so many seconds; it takes the place of running trials.

    Raises TrialError where it cannot be started; then nothing runs.
    """
    os.makedirs(directory, mode=0o700, exist_ok=True)
    earlier = running(directory)
    token = os.path.join(directory, uuid.uuid4().hex)
    with open(f"{token}.new", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(f"{token}.new", f"{token}.nft")
    try:
        _start(nft, token, seconds)
    except (OSError, StreamopsError) as error:
        os.unlink(f"{token}.nft")
        raise TrialError(
            f"firewall: the timer that puts the previous table back was not started: {error}. fix: see why on the "
            "machine (systemctl status, free memory), then run again. Nothing was changed."
        ) from error
    for one in earlier:
        _claim(one)


def keep(directory: str) -> bool:
    """End the running trial without putting anything back; whether there was one that had not put it back yet."""
    ended = [_claim(one) for one in running(directory)]
    return any(ended)


def revert(nft: str, directory: str) -> bool:
    """Put the previous table back now; whether there was a trial that had not done it yet."""
    found = running(directory)
    for one in found:
        run(["sh", "-c", _BACK, nft, one], _SECONDS)
        _stop(one)
    return bool(found)


def _claim(token: str) -> bool:
    try:
        os.rename(f"{token}.nft", f"{token}.kept")
    except FileNotFoundError:
        return False
    os.unlink(f"{token}.kept")
    _stop(token)
    return True


def _start(nft: str, token: str, seconds: int) -> None:
    if not _has_systemd():
        detach(["sh", "-c", _WAIT, nft, token, str(seconds)])
        return
    # A timer may be late by AccuracySec, a minute unless told (systemd.timer(5)).
    timer = [f"--on-active={seconds}", "--timer-property=AccuracySec=100ms", f"--unit={UNIT}{os.path.basename(token)}"]
    code, _out, error = run(["systemd-run", "--collect", *timer, "sh", "-c", _BACK, nft, token], _SECONDS)
    if code != 0:
        raise TrialError(f"systemd-run: {error.strip()}")


def _stop(token: str) -> None:
    if _has_systemd():
        run(["systemctl", "stop", f"{UNIT}{os.path.basename(token)}.timer"], _SECONDS)


def _has_systemd() -> bool:
    """Return whether systemd runs, in our network namespace: what its timer starts filters there."""
    if not os.path.isdir("/run/systemd/system") or shutil.which("systemd-run") is None:
        return False
    return os.readlink("/proc/self/ns/net") == os.readlink("/proc/1/ns/net")
