# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a cluster may go back to an older release."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.versions import goes_back, too_new


@pytest.mark.parametrize(
    ("runs", "wished", "back"),
    [
        ("4.3.1", "3.9.2", True),
        ("4.3.1", "4.2.0", True),
        ("3.10.0", "3.9.2", True),
        ("4.3.1", "4.3.0", False),
        ("4.3.1", "4.3.1", False),
        ("3.9.2", "4.3.1", False),
        (None, "3.9.2", False),
        ("4.3.1", "", False),
        ("4.3.1", "newest", False),
    ],
)
def test_an_older_minor_release_goes_back_and_another_patch_does_not(runs: str | None, wished: str, back: bool) -> None:
    assert goes_back(runs, wished) is back


@pytest.mark.parametrize(
    ("features", "wished", "found"),
    [
        ({"metadata.version": 21, "kraft.version": 1}, "3.9.2", []),
        ({"metadata.version": 22, "kraft.version": 1}, "3.9.2", ["metadata.version 22"]),
        ({"metadata.version": 21, "group.version": 1, "kraft.version": 1}, "3.9.2", ["group.version 1"]),
        ({"metadata.version": 21, "group.version": 0}, "3.9.2", []),
        ({}, "3.9.2", []),
        ({"metadata.version": 7}, "4.99.0", ["metadata.version 7"]),
        ({"metadata.version": 30, "share.version": 1}, "4.2.0", ["metadata.version 30"]),
    ],
)
def test_a_release_takes_what_it_knows_and_one_that_is_not_listed_takes_nothing(
    features: dict[str, int], wished: str, found: list[str]
) -> None:
    assert too_new(features, wished) == found
