# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The table of our ports on a machine: compare file and kernel with the rules, then load what differs.

A table may be loaded on trial (trial_apply.py): its file is written only when the run confirms it.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._core.commands import run
from .._core.errors import StreamopsError
from . import foreign, look, trial_apply
from .connections import Cut, cuts, refusal
from .text import FAMILY, TABLE, digest_of, table_text

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule

#: Longest time for one call of a firewall's program; each takes less than a second.
SECONDS = 60.0
# Where the kernel names the loaded tables of iptables-legacy; only root may read it.
_LEGACY_NAMES = ("/proc/net/ip_tables_names", "/proc/net/ip6_tables_names")


class NftError(StreamopsError):
    """nft is missing or refused what it was given."""


class CutError(StreamopsError):
    """The wanted rules would cut connections that are open now, and nobody accepted that."""


def ensure(
    module: AnsibleModule,
    rules: Sequence[Mapping[str, Any]],
    path: str,
    checked: Collection[str],
    accept_cuts: Collection[str],
    trial_seconds: int | None = None,
    directory: str = trial_apply.DIRECTORY,
) -> dict[str, Any]:
    """Bring file and kernel to these rules; without rules both go. Returns {changed, diff, cuts, foreign, notes}.

    checked -- other firewalls that an administrator has looked at, see foreign.blocking. accept_cuts -- addresses and
    networks whose open connections may be cut; CutError names all others that a changed table would cut.
    trial_seconds -- None loads the table for good. Else the file stays as it is, and after so many seconds without
    `confirm` the machine puts the previous table back; what it needs for that is in the directory.

    The table is loaded before the file is written: what nft refuses changes nothing, and a run that is cut between
    the two finds the old file next time and does both again.
    """
    nft = module.get_bin_path("nft")
    before = _read(path)
    if not rules:
        return _remove(module, nft, path, before, directory)
    wanted = table_text(rules)
    if nft is None:
        if not module.check_mode:
            raise NftError("nft: the program was not found; install the package nftables. Nothing was changed.")
        return _result(True, _diff(path, before, wanted), _accepted(rules, accept_cuts))
    candidate = _candidate(module, wanted)
    _run([nft, "--check", "--file", candidate], "the table does not fit this machine's nft")
    drift = _drift(module, nft, candidate, wanted)
    # A table on trial that no run confirmed yet goes away by itself, even one that is just what is wanted.
    changed = before != wanted or drift is not None or bool(trial_apply.running(directory))
    cut = _accepted(rules, accept_cuts) if changed else []
    if changed and not module.check_mode:
        _load(module, nft, candidate, trial_seconds, directory)
        if trial_seconds is None:
            _write(module, candidate, path)
    diff = _diff(path, before, wanted) if before != wanted else drift
    return {**_result(changed, diff, cut, _listening(rules)), **_others(module, nft, rules, checked)}


def confirm(module: AnsibleModule, rules: Sequence[Mapping[str, Any]], path: str, directory: str) -> dict[str, Any]:
    """Keep the table on trial and write its file. Raises NftError where its time was over or another table is loaded.

    Returns {changed, diff, cuts, foreign, notes}.
    """
    wanted = table_text(rules)
    if module.check_mode:
        return _result(False, None)
    nft = module.get_bin_path("nft")
    if nft is None or digest_of(_listing(nft)) != digest_of(wanted) or not trial_apply.keep(directory):
        raise NftError(
            "firewall: the table on trial was not confirmed in time, or another program replaced it, so the previous "
            "table is or will be in force again. fix: give it more time (kafka_firewall_confirm_seconds), then run "
            "again. The file that loads at boot was not changed."
        )
    _write(module, _candidate(module, wanted), path)
    return _result(True, None)


def revert(module: AnsibleModule, directory: str) -> dict[str, Any]:
    """Put the table of before the trial back at once. Returns {changed, diff, cuts, foreign, notes}."""
    nft = module.get_bin_path("nft")
    return _result(nft is not None and not module.check_mode and trial_apply.revert(nft, directory), None)


def _load(module: AnsibleModule, nft: str, candidate: str, seconds: int | None, directory: str) -> None:
    """Load the table, for good or on trial; what a trial of an earlier run would put back stays what comes back."""
    if seconds is None:
        _run([nft, "--file", candidate], "the table could not be loaded")
        trial_apply.keep(directory)
        return
    previous = trial_apply.previous(directory)
    if previous is None:
        previous = trial_apply.script(_listing(nft))
    script = _candidate(module, previous)
    if run([nft, "--check", "--file", script], SECONDS)[0] != 0:
        # A table that was written by hand and that nft prints in words which it does not read itself.
        previous = trial_apply.script("")
    trial_apply.begin(nft, directory, previous, seconds)
    try:
        _run([nft, "--file", candidate], "the table could not be loaded")
    except NftError:
        trial_apply.revert(nft, directory)
        raise


def _listening(rules: Iterable[Mapping[str, Any]]) -> list[int]:
    """The ports of the rules that anything listens on now."""
    return sorted(look.listening_ports() & {int(rule["port"]) for rule in rules})


def _accepted(rules: Sequence[Mapping[str, Any]], accept_cuts: Collection[str]) -> list[Cut]:
    """Return what a table of these rules cuts with consent; raises CutError for the rest."""
    try:
        refused, accepted = cuts(look.connections(), rules, accept_cuts)
    except ValueError as error:
        raise NftError(f"firewall: accept_cuts: {error}; write addresses or networks. Nothing was changed.") from error
    if refused:
        raise CutError(f"firewall: {refusal(refused)}", cuts=[one._asdict() for one in refused])
    return accepted


def _result(
    changed: bool, diff: Mapping[str, str] | None, cut: Sequence[Cut] = (), listening: Sequence[int] = ()
) -> dict[str, Any]:
    """Return the module's result; the diff names the connections that end, too."""
    diffs = [dict(diff)] if diff and changed else []
    if cut:
        diffs.append(_diff("open connections that the table cuts", "".join(f"{one}\n" for one in cut), ""))
    told = {"cuts": [one._asdict() for one in cut], "foreign": [], "notes": [], "listening": list(listening)}
    return {"changed": changed, "differs": changed, "diff": diffs, **told}


def _diff(path: str, before: str, after: str) -> dict[str, str]:
    return {"before_header": path, "after_header": path, "before": before, "after": after}


def _remove(module: AnsibleModule, nft: str | None, path: str, before: str, directory: str) -> dict[str, Any]:
    """The file or a trial marks that a run of ours made the table; without them there is nothing to take away."""
    if not before and not trial_apply.running(directory):
        return _result(False, None)
    if not module.check_mode:
        trial_apply.keep(directory)
        if nft is not None and _listing(nft):
            _run([nft, "delete", "table", FAMILY, TABLE], "the table could not be taken away")
        if before:
            os.unlink(path)
    return _result(True, _diff(path, before, ""))


def _drift(module: AnsibleModule, nft: str, candidate: str, wanted: str) -> dict[str, str] | None:
    """Compare what the kernel filters now with what it would with the candidate; None when that is the same.

    nft lists a table in words of its own, which change with its version. So the candidate is loaded into a network
    namespace that lives for this call only, and both listings are compared. Where namespaces are forbidden the digest
    in the table is compared, which does not see a rule changed by hand.
    """
    loaded = _listing(nft)
    unshare = module.get_bin_path("unshare")
    script = f'"$0" --file "$1" && "$0" --stateless list table {FAMILY} {TABLE}'
    command = [str(unshare), "--net", "sh", "-c", script, nft, candidate]
    code, expected, _error = run(command, SECONDS) if unshare else (1, "", "")
    if code != 0:
        expected = wanted
        if digest_of(loaded) == digest_of(wanted):
            return None
    if loaded == expected:
        return None
    return _diff(f"table {FAMILY} {TABLE}", loaded, expected)


def _listing(nft: str) -> str:
    """The table as the kernel has it, without the numbers of its counters; empty when it is not loaded."""
    code, out, _error = run([nft, "--stateless", "list", "table", FAMILY, TABLE], SECONDS)
    return out if code == 0 else ""


def _others(
    module: AnsibleModule, nft: str, rules: Sequence[Mapping[str, Any]], checked: Collection[str]
) -> dict[str, Any]:
    """Other firewalls that can refuse; notes are sentences on what could not be looked at."""
    code, out, _error = run([nft, "--json", "list", "ruleset"], SECONDS)
    notes = []
    found: list[dict[str, Any]] = []
    if code == 0:
        found = foreign.blocking(json.loads(out or "{}"), rules, checked)
    else:
        notes.append("this nft cannot print its rules as JSON, so other firewalls were not looked at")
    names = [line.strip() for path in _LEGACY_NAMES for line in _read(path).splitlines()]
    legacy = foreign.legacy_finding(names, _legacy_rules(module)) if "iptables" not in checked else None
    return {"foreign": found, "notes": [*notes, *([legacy] if legacy else [])]}


def _legacy_rules(module: AnsibleModule) -> str | None:
    printed = []
    for name in ("iptables-legacy-save", "ip6tables-legacy-save"):
        program = module.get_bin_path(name)
        if program is None:
            return None
        printed.append(run([program, "-t", "filter"], SECONDS)[1])
    return "".join(printed)


def _run(command: list[str], why: str) -> None:
    code, _out, error = run(command, SECONDS)
    if code != 0:
        raise NftError(f"nft: {why}: {error.strip()}. Nothing was changed.", command=command, stderr=error)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _candidate(module: AnsibleModule, content: str) -> str:
    handle, path = tempfile.mkstemp(dir=module.tmpdir, suffix=".nft")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(content)
    return path


def _write(module: AnsibleModule, candidate: str, path: str) -> None:
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    os.chmod(candidate, 0o644)
    module.atomic_move(candidate, path)
