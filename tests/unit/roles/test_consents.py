"""What needs a consent of the inventory has it from there alone: no task gives it by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted(
    [*ROOT.glob("roles/*/tasks/**/*.yml"), *ROOT.glob("playbooks/*.yml"), *ROOT.glob("playbooks/tasks/**/*.yml")]
)
#: Options of modules that allow what is refused without them.
CONSENT = re.compile(r"allow_\w+|accept\w*|consent\w*")
#: Who reads it: a variable that users set, typed by the model or not.
SET_BY_USERS = re.compile(r"(?:_settings\.)?(kafka_\w+)")
#: Every consent that a task passes on, so that none is lost or comes without being seen.
KNOWN = {
    ("firewall", "accept_cuts", "kafka_firewall_accept_cuts"),
    ("restart_gate", "allow_unavailable_topics", "kafka_gate_allow_unavailable_topics"),
    ("topics", "allow_compacted_growth", "kafka_resources_allow_compacted_growth"),
    ("topics", "allow_delete", "kafka_resources_allow_delete"),
}
#: Those that tasks give by themselves, each for its reason.
GIVEN = {
    # Asks about the quorum alone, and stops nothing.
    ("restart_gate", "allow_unavailable_topics", "whole_kafka.yml: ['*']"),
    # A topic that grew in the source has its keys in two places there already.
    ("topics", "allow_compacted_growth", "legacy_topics.yml: True"),
    # A topic that does not exist is refused.
    ("topics", "allow_create", "grow.yml: False"),
}


def given(entries: list[Any]) -> Iterator[tuple[str, str, Any]]:
    """The module, the option and the value of each consent in tasks or plays, those inside blocks too."""
    for one in entries:
        for part in ("tasks", "block", "rescue", "always"):
            yield from given(one.get(part) or [])
        for name, options in one.items():
            if name.startswith("streamops.kafka.") and isinstance(options, dict):
                found = ((option, value) for option, value in options.items() if CONSENT.fullmatch(option))
                yield from ((name.rpartition(".")[2], option, value) for option, value in found)


def passed_on() -> list[tuple[str, str, str]]:
    """Each consent of all tasks with the variable that it is; the value itself where it is none."""
    found = []
    for path in FILES:
        for module, option, value in given(yaml.safe_load(path.read_text()) or []):
            variable = SET_BY_USERS.fullmatch(str(value).strip().removeprefix("{{").removesuffix("}}").strip())
            found.append((module, option, variable[1] if variable else f"{path.name}: {value}"))
    return found


def test_each_consent_is_a_variable_of_the_inventory() -> None:
    assert set(passed_on()) == KNOWN | GIVEN


@pytest.mark.parametrize("variable", sorted(variable for _module, _option, variable in KNOWN))
def test_no_consent_is_a_default(variable: str) -> None:
    defaults = [yaml.safe_load(path.read_text()) or {} for path in ROOT.glob("roles/*/defaults/main.yml")]
    assert [one[variable] for one in defaults if variable in one] in ([False], [[]])
