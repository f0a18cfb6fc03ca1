# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of what a tuning makes: no flow mirrors them, and a later run finds all of them and nothing else."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import LOAD, Flow, matches, own_topics
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_tune.names import (
    alias,
    copy_topic,
    group,
    own_acls,
    with_load,
)

OF_A_RUN = [
    copy_topic(12),
    "mm2-offsets._streamops_tune_12.internal",
    "mm2-configs._streamops_tune_12.internal",
    "mm2-status._streamops_tune_12.internal",
    "mm2-offset-syncs._streamops_tune_12.internal",
    "_streamops_tune_12.checkpoints.internal",
]


@pytest.mark.parametrize("topic", [LOAD, *OF_A_RUN])
def test_no_flow_of_all_topics_mirrors_what_a_tuning_makes(topic: str) -> None:
    assert not matches(Flow("dc_a", "dc_b", (".*",)), topic)
    assert not matches(Flow("dc_b", "dc_a", (".*",)), topic)


def test_all_topics_of_a_run_are_found_again() -> None:
    assert own_topics([*OF_A_RUN, LOAD]) == sorted([*OF_A_RUN, LOAD])
    assert with_load([*OF_A_RUN, LOAD]) == sorted([copy_topic(12), LOAD])


def test_the_topics_of_one_run_are_told_from_those_of_another() -> None:
    assert own_topics([*OF_A_RUN, LOAD], 12) == sorted(OF_A_RUN)
    assert own_topics([*OF_A_RUN, LOAD], 1) == own_topics([*OF_A_RUN, LOAD], 2) == []


@pytest.mark.parametrize(
    "name",
    [
        "orders",
        "_streamops_tune",
        "_streamops_tune_load2",
        "_streamops_state",
        "dc_a._streamops_tune_load",
        "mm2-offsets.dc_a.internal",
        "_streamops_tune_x.orders",
        "_streamops_tune_1.orders",
    ],
)
def test_topics_of_others_are_not_taken_for_own_ones(name: str) -> None:
    assert own_topics([name]) == []


def test_each_run_has_a_name_of_its_own_for_the_source() -> None:
    assert (alias(1), copy_topic(1), group(2)) == (
        "_streamops_tune_1",
        "_streamops_tune_1._streamops_tune_load",
        "_streamops_tune_2-mm2",
    )


def test_a_mirror_may_only_read_the_load_and_write_under_the_own_prefix() -> None:
    source, target = own_acls("User:mirror", True), own_acls("User:mirror", False)
    assert [(one["resource"], one["operations"]) for one in source] == [(LOAD, ["read", "describe_configs"])]
    assert all("_streamops_tune_" in str(one["resource"]) for one in target)
    assert {one["resource_type"] for one in target} == {"topic", "group"}
