"""The options of mirror_flows in the argument spec are the keys of a flow as the code reads it."""

from __future__ import annotations

from dataclasses import MISSING, fields

from ansible_collections.streamops.kafka.plugins.module_utils._mirror import flows
from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import role_options

OPTIONS = role_options("_common")["mirror_flows"]["options"]


def test_each_key_of_a_flow_is_an_option() -> None:
    assert set(OPTIONS) == set(flows.KEYS)
    assert {name for name, option in OPTIONS.items() if option.get("required")} == set(flows.REQUIRED)


def test_types_and_words_are_those_of_the_code() -> None:
    assert {name for name, option in OPTIONS.items() if option["type"] == "bool"} == set(flows.BOOLEANS)
    assert {name for name, option in OPTIONS.items() if option["type"] == "list"} == set(flows.LISTS)
    words = {name: tuple(option["choices"]) for name, option in OPTIONS.items() if "choices" in option}
    assert words == flows.WORDS


def test_defaults_are_those_of_the_code() -> None:
    coded = {key.name: key.default for key in fields(flows.Flow) if key.default is not MISSING}
    said = {name: plain(option["default"]) for name, option in OPTIONS.items() if "default" in option}
    assert said == coded


def plain(default: object) -> object:
    """A default of the argument spec as the code has it: an empty mapping is None there, a list a tuple."""
    return None if default == {} else tuple(default) if isinstance(default, list) else default
