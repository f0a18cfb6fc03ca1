"""What modules write into the journal of the machine that they run on."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.testing import patch_module_args

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._core.module import SecretModule, options_of
from tests.support.cluster import ROOT

MODULES = sorted(path.stem for path in (ROOT / "plugins" / "modules").glob("[a-z]*.py"))
SPEC = {"users": {"type": "list", "elements": "dict", "options": {"password": {"type": "str", "no_log": True}}}}
# Each of them stays readable, whole or in part, in what Ansible's own class logs.
SECRETS = ["two\nlines", "back\\slash", "scheme://name:first@second"]


class Called(Exception):
    """Instead of the rest of a module: what it was made with."""


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Everything that a module logs."""
    lines: list[str] = []
    monkeypatch.setattr(AnsibleModule, "log", lambda _self, msg, **_more: lines.append(msg))
    return lines


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_in_a_list_is_not_logged(logged: list[str], secret: str) -> None:
    with patch_module_args({"users": [{"password": secret}]}):
        module = SecretModule(argument_spec=SPEC)
    assert module.params["users"][0]["password"] == secret
    assert len(logged) == 1
    assert not [part for part in ("two", "lines", "back", "slash", "first", "second") if part in logged[0]]


@pytest.mark.parametrize("secret", SECRETS)
def test_ansible_alone_would_log_it(logged: list[str], secret: str) -> None:
    with patch_module_args({"users": [{"password": secret}]}):
        AnsibleModule(argument_spec=SPEC)
    assert "********" not in logged[0] or "second" in logged[0]


@pytest.mark.parametrize("name", MODULES)
def test_every_module_with_secrets_below_its_top_level_is_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def caught(self: AnsibleModule, argument_spec: Mapping[str, Any], **_more: Any) -> None:
        raise Called(type(self), argument_spec)

    monkeypatch.setattr(AnsibleModule, "__init__", caught)
    module = importlib.import_module(f"ansible_collections.streamops.kafka.plugins.modules.{name}")
    with pytest.raises(Called) as made:
        module.main()
    kind, spec = made.value.args
    nested = [option for given in spec.values() for option in _options(given.get("options") or {})]
    assert kind is (SecretModule if any(option.get("no_log") for option in nested) else AnsibleModule)


def _options(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for option in spec.values():
        yield option
        yield from _options(option.get("options") or {})


OPTIONS = {"seconds": {"type": "float", "default": 0}, "beside": {"type": "dict", "options": {"path": {"type": "str"}}}}


def test_options_in_one_mapping_are_taken_as_those_of_a_module() -> None:
    assert options_of(OPTIONS, "look", {"seconds": "2"}) == {"seconds": 2.0, "beside": None}


@pytest.mark.parametrize(
    ("given", "words"),
    [({"second": 2}, "second"), ({"seconds": "two"}, "seconds"), ({"beside": {"paths": 1}}, "paths")],
)
def test_options_in_one_mapping_that_are_none_are_refused_by_name(given: dict[str, Any], words: str) -> None:
    with pytest.raises(StreamopsError) as refused:
        options_of(OPTIONS, "look", given)
    assert "option look: " in str(refused.value)
    assert words in str(refused.value)
