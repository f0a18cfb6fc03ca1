# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Known vulnerabilities of Kafka by version, as data, and which of them a version has.

Ranges are those of the CVE records as of 2026-11-20, ends included. Where a record leaves a range open it is taken to
reach the newest version that exists.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Vulnerability:
    """One CVE: affected versions as pairs (first, last), what it does, and what helps."""

    cve: str
    affected: tuple[tuple[str, str], ...]
    what: str
    helps: str
    # Only where this SASL mechanism is on; empty for always.
    mechanism: str = ""


# Not formatted: one CVE an entry, with its ranges on the first line.
VULNERABILITIES = (
    Vulnerability(
        "CVE-2026-111115", (("2.4.0", "4.1.2"), ("4.2.0", "4.2.1"), ("4.3.0", "4.3.1")),
        "a crafted request makes a broker run out of memory", "let only known clients reach the ports (firewall, TLS)",
    ),
    Vulnerability(
        "CVE-2026-111108", (("3.3.0", "4.1.2"), ("4.2.0", "4.2.1"), ("4.3.0", "4.3.1")),
        "a crafted request makes a broker run out of memory", "let only known clients reach the ports (firewall, TLS)",
    ),
    Vulnerability(
        "CVE-2026-111073", (("3.7.0", "4.2.1"), ("4.3.0", "4.3.0")),
        "an authenticated client may send a decompression bomb as telemetry", "upgrade",
    ),
    Vulnerability(
        "CVE-2026-110985", (("4.1.0", "4.3.1"),),
        "OAUTHBEARER without a JWKS URL checks no signature", "set sasl.oauthbearer.jwks.endpoint.url", "OAUTHBEARER",
    ),
    Vulnerability(
        "CVE-2026-41115", (("4.0.0", "4.3.0"),),
        "a consumer group is described with DESCRIBE alone", "review who has DESCRIBE on groups",
    ),
    Vulnerability(
        "CVE-2026-35554", (("2.8.0", "3.9.1"), ("4.0.0", "4.0.1"), ("4.1.0", "4.1.1")),
        "its own producers can write a record to the wrong topic", "upgrade",
    ),
    Vulnerability(
        "CVE-2026-33558", (("0.11.0", "3.9.1"), ("4.0.0", "4.0.0")), "secrets stand in logs of level DEBUG", "upgrade",
    ),
    Vulnerability(
        "CVE-2026-33557", (("4.1.0", "4.1.1"),), "OAUTHBEARER takes any token", "upgrade", "OAUTHBEARER",
    ),
    Vulnerability(
        "CVE-2025-27817", (("3.1.0", "3.9.0"),), "clients read files and URLs of the server's choice", "upgrade",
    ),
    Vulnerability(
        "CVE-2025-27818", (("2.3.0", "3.9.0"),), "a login module of LDAP runs foreign code", "upgrade",
    ),
    Vulnerability(
        "CVE-2024-56128", (("0.10.2", "3.7.1"), ("3.8.0", "3.8.0")),
        "SCRAM logins can be replayed where nothing is encrypted", "use TLS, upgrade", "SCRAM-SHA-512",
    ),
    Vulnerability(
        "CVE-2026-59949", (("3.0.0", "4.3.1"),),
        "its lz4 library reads outside a buffer (fixed in lz4-java 1.11.1)", "let only known clients reach the ports",
    ),
)  # fmt: skip


def numbers(version: str) -> tuple[int, ...]:
    """A version as numbers that compare; what is no number ends it."""
    parts: list[int] = []
    for part in version.split("."):
        if not part.isdigit():
            break
        parts.append(int(part))
    return tuple(parts)


def of_version(version: str, mechanisms: tuple[str, ...] = ()) -> list[Vulnerability]:
    """The vulnerabilities of a Kafka version that is used with these SASL mechanisms, in the order of the table."""
    own = numbers(version)
    return [
        one
        for one in VULNERABILITIES
        if any(numbers(first) <= own <= numbers(last) for first, last in one.affected)
        and (not one.mechanism or one.mechanism in mechanisms)
    ]


def newest_listed() -> str:
    """Return the newest version of Kafka that the table names: the last one whose vulnerabilities it knows."""
    return max((last for one in VULNERABILITIES for _first, last in one.affected), key=numbers)
