# SPDX-License-Identifier: GPL-3.0-or-later
"""The argument specs as programs read them."""

from __future__ import annotations

import runpy
from pathlib import Path

import yaml

from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import SPECS, role_options

ROOT = Path(__file__).resolve().parents[4]


def test_the_specs_are_those_of_the_roles() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "make_specs"))["text"]()
    assert SPECS.read_text() == made, "run tools/make_specs"


def test_defaults_of_roles_and_services_are_those_of_the_specs() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "make_defaults"))
    files = dict(made["files"]())
    assert "service_settings.py" in {path.name for path in files}
    for path, text in files.items():
        assert path.read_text() == text, f"{path}: run tools/make_defaults"
    roles = {path.parents[1].name: text for path, text in files.items() if path.suffix == ".yml"}
    assert len(roles) > 5
    for role, text in roles.items():
        specs = {name: one["default"] for name, one in made["declared"](role).items() if "default" in one}
        # The types too, since 1, 1.0 and true are equal.
        assert repr(yaml.safe_load(text) or {}) == repr(specs), f"{role}: YAML reads another default than its spec has"
    # Text that YAML would read as something else, or that fits on no line.
    for value in (
        "",
        "yes",
        "a: b",
        '"{{ a }}"',
        "{{ a }} # b",
        "{{ a\\n }}",
        "x " * 100 + "x",
        ["a" * 80, "b" * 80],
        {},
        1.0,
        None,
    ):
        assert yaml.safe_load(made["assignment"]("name", value)) == {"name": value}


def test_options_are_those_of_the_named_roles_or_of_all() -> None:
    own, other = role_options("_common"), role_options("spark_validation")
    assert own["zookeeper_tls"]["type"] == "bool"
    assert "zookeeper_tls" not in other
    assert {*own, *other} < {*role_options()}
