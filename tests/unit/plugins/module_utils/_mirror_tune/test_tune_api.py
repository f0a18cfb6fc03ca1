# SPDX-License-Identifier: GPL-3.0-or-later
"""The values of the load; what talks to a cluster is proven by tests/integration/mirror/test_mirror_tune.py."""

from __future__ import annotations

import zlib

from ansible_collections.streamops.kafka.plugins.module_utils._mirror_tune.api import values


def test_a_batch_of_the_load_packs_about_two_to_one() -> None:
    batch = b"".join(values(1000))
    assert {len(value) for value in values(1000)} == {1000}
    assert 0.45 < len(zlib.compress(batch)) / len(batch) < 0.6


def test_values_of_an_odd_size_have_it() -> None:
    assert {len(value) for value in values(17)} == {17}
