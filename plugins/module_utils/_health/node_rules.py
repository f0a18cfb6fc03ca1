# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The rules on what nodes run with: certificates, versions and start files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .._core.cves import newest_listed, of_version
from .._core.names import capped
from .model import NOTE, SERIOUS, SHOWN, SITE, HealthFinding, Limits, State


def certificate_ends(state: State, limits: Limits) -> Iterator[HealthFinding]:
    """Find listeners whose certificate ends soon, has ended, or could not be read."""
    for broker, seen in sorted(state.certificates.items()):
        name, days = f"{state.name(broker)} ({seen['server']})", seen["days_left"]
        if days is not None and days >= limits.min_certificate_days:
            continue
        if days is None:
            what, found = f"the certificate of {name} could not be read: {seen['error']}", "unknown"
        elif days < 0:
            what, found = f"the certificate of {name} has expired", "expired"
        else:
            what, found = f"the certificate of {name} ends in {days} days", f"{days} days"
        yield HealthFinding(
            "certificate_ends",
            SERIOUS,
            what,
            found,
            allowed=f"at least {limits.min_certificate_days} days",
            next_step=f"renew kafka_tls_certificate_file where the nodes have their own, then: {SITE}",
        )


def known_vulnerability(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Note vulnerabilities of the versions that run, as far as an upgrade to the newest version of our table ends them.
    What no version ends yet, the preflight warns of, with what helps."""
    newest = newest_listed()
    open_still = {one.cve for one in of_version(newest, state.mechanisms)}
    hosts: dict[str, list[str]] = {}
    for host, version in state.versions.items():
        if version:
            hosts.setdefault(version, []).append(host)
    for version, on in sorted(hosts.items()):
        mended = [one.cve for one in of_version(version, state.mechanisms) if one.cve not in open_still]
        if mended:
            yield HealthFinding(
                "known_vulnerability",
                NOTE,
                f"Kafka {version} on {capped(on, SHOWN)} has known vulnerabilities: {capped(mended, SHOWN)}",
                found=version,
                allowed=f"a version without them, such as {newest}",
                next_step=f"set kafka_version to {newest} or later, then: {SITE}",
            )


def start_files(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Note start files that a node did not come back with, that wait for its restart, or that people changed."""
    yield from of_start_files(state.start_files)


def of_start_files(by_host: Mapping[str, Mapping[str, Any]]) -> Iterator[HealthFinding]:
    """Note the same of any hosts, also of those that no cluster knows; start_files as node_info returns them."""
    files = sorted(by_host.items())
    for host, seen in files:
        if seen["failed"]:
            why = (seen["why_failed"].splitlines() or ["unknown"])[0]
            yield HealthFinding(
                "start_files_failed",
                NOTE,
                f"{host} did not come back with its last new start files and runs with those from before: {why}",
                found=seen["failed"],
                allowed="none",
                next_step=f"correct the values, then: {SITE}",
            )
    if waiting := [host for host, seen in files if seen["staged"]]:
        yield HealthFinding(
            "start_files_staged",
            NOTE,
            f"new start files wait for the restart of {capped(waiting, SHOWN)}",
            found=f"{len(waiting)} node(s)",
            allowed="none",
            next_step=SITE,
        )
    for host, seen in files:
        if seen["edited"]:
            yield HealthFinding(
                "start_files_edited",
                NOTE,
                f"start files of {host} were edited or removed by hand: {capped(seen['edited'], SHOWN)}",
                found=f"{len(seen['edited'])} file(s)",
                allowed="none",
                next_step=f"put the change into the inventory, since a run replaces these files: {SITE}",
            )
