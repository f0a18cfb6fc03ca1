# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a planned reassignment from being begun."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.walk import refuse_too_long


def test_a_plan_that_outlasts_the_timeout_is_refused_with_both_numbers() -> None:
    with pytest.raises(RefusedError) as error:
        refuse_too_long(62_509.5, 14_400, 50_000_000)
    said = error.value.violations[0]
    assert "about 62510 s at a throttle of 50000000 bytes/s, and timeout is 14400 s" in said
    assert "Raise timeout (kafka_resources_move_timeout) above 62510" in said
    assert "run the same again, which goes on where it was" in said


@pytest.mark.parametrize("seconds", [None, 0.0, 14_400.0])
def test_one_that_ends_in_time_or_of_which_nobody_knows_is_begun(seconds: float | None) -> None:
    refuse_too_long(seconds, 14_400, 50_000_000)
