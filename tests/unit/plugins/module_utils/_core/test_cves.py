"""Which vulnerabilities a version has."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core import cves


@pytest.mark.parametrize("one", cves.VULNERABILITIES, ids=lambda one: one.cve)
def test_each_row_holds_at_both_ends_of_its_ranges(one: cves.Vulnerability) -> None:
    mechanisms = (one.mechanism,) if one.mechanism else ()
    for version in (version for pair in one.affected for version in pair):
        assert one in cves.of_version(version, mechanisms)
    assert one not in cves.of_version("99.0.0", mechanisms)


def test_a_row_on_a_mechanism_needs_the_mechanism() -> None:
    named = {one.cve for one in cves.of_version("4.1.1")}
    assert "CVE-2026-33557" not in named
    assert "CVE-2026-33557" in {one.cve for one in cves.of_version("4.1.1", ("OAUTHBEARER",))}


@pytest.mark.parametrize("version", ["4.3.1", "3.9.2"])
def test_the_supported_versions_have_only_what_no_version_is_free_of(version: str) -> None:
    named = [one.cve for one in cves.of_version(version, ("SCRAM-SHA-512",))]
    assert named == [
        "CVE-2026-111115",
        "CVE-2026-111108",
        *(["CVE-2026-111073"] if version == "3.9.2" else []),
        "CVE-2026-59949",
    ]


def test_the_next_version_is_free() -> None:
    assert cves.of_version("4.4.0", ("SCRAM-SHA-512", "OAUTHBEARER")) == []
