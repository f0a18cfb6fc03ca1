# SPDX-License-Identifier: GPL-3.0-or-later
"""The argument specs as programs read them."""

from __future__ import annotations

import runpy
from pathlib import Path

from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import SPECS, role_options

ROOT = Path(__file__).resolve().parents[4]


def test_the_specs_are_those_of_the_roles() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "make_specs"))["text"]()
    assert SPECS.read_text() == made, "run tools/make_specs"


def test_options_are_those_of_the_named_roles_or_of_all() -> None:
    own, other = role_options("_common"), role_options("spark_validation")
    assert own["zookeeper_tls"]["type"] == "bool"
    assert "zookeeper_tls" not in other
    assert {*own, *other} < {*role_options()}
