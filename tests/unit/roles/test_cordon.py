# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a broker is cordoned before it is drained: by what its cluster has finalised."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

from tests.support.cluster import ROOT

VARIABLES = yaml.safe_load((ROOT / "roles" / "kafka_resources" / "vars" / "main.yml").read_text())


@pytest.mark.parametrize(
    ("given", "finalised", "cordons"),
    [
        ({}, {"features": {"metadata.version": 30}}, True),
        ({}, {"features": {"metadata.version": 21}}, False),
        ({}, {"features": None}, False),
        ({}, {"skipped": True}, False),
        ({}, None, False),
        ({"kafka_resources_move_cordon": False}, {"features": {"metadata.version": 30}}, False),
        ({"kafka_resources_move_cordon": True}, None, True),
    ],
)
def test_a_broker_is_cordoned_where_the_cluster_can_do_that(
    given: dict[str, Any], finalised: dict[str, Any] | None, cordons: bool
) -> None:
    # The version of the inventory plays no part.
    known = {"_settings": given, "kafka_version": "4.3.1", "kafka_mode": "kraft_isolated"}
    if finalised is not None:
        known["__kafka_resources_finalised"] = finalised
    templar = Templar(loader=DataLoader(), variables=known)
    assert templar.template(trust_as_template(VARIABLES["_kafka_resources_move_cordon"])) is cordons
