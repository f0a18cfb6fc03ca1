# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables as YAML: whatever they hold, it reads back as it was, and nothing in it is a template but a secret."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.written import (
    Remarked,
    Secret,
    Text,
    document,
    secrets,
)


class Loader(yaml.SafeLoader):
    """Reads YAML as Ansible does, to which !unsafe is a text."""


Loader.add_constructor("!unsafe", lambda loader, node: loader.construct_scalar(node))

EXAMPLES = settings(max_examples=40, deadline=None)
HOSTILE = [
    "", " ", "yes", "No", "on", "null", "~", "1", "1.0", "1e3", "0x1f", "010", "1:30", "2026-11-30", "*anchor", "&x",
    "!tag", "!unsafe x", "- a", "? a", "a: b", "a #b", "#", "%", "@", "`", "|", ">", "'", '"', "\\", "{", "}", "[", "]",
    ", a", "{{ x }}", "{% x %}", "{# x #}", "}}", "a\nb", "a\n", "\n", "\r", "\t", "\x00", "\x1b[31m", "\x85", "\u2028",
    "\ufeff", "ü€😀", "---", "...", "=", "<<", "a" * 300, "a b " * 80, "${file:/a:b}", "#jinja2: x", "'{{ x }}'",
    "CN=a, O=b", "a, b: c",
    "#jinja2: variable_start_string:'[%', variable_end_string:'%]'\n[% lookup('pipe', 'id') %]",
]  # fmt: skip
TEXTS = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=8,
)


def read(text: str) -> Any:
    """Return what Ansible reads, as plain data."""
    return yaml.load(text, Loader)


@EXAMPLES
@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=5), st.lists(TEXTS, max_size=2))
def test_what_is_written_reads_back_whatever_it_holds(variables: dict[str, Any], head: list[str]) -> None:
    assert read(document(variables, head, dict.fromkeys(variables, head))) == variables


@EXAMPLES
@given(st.dictionaries(TEXTS, TEXTS, min_size=1, max_size=5), TEXTS)
def test_comments_of_entries_change_nothing(values: dict[str, str], remark: str) -> None:
    text = document({"kafka_config": Remarked(values, {key: [remark] for key in values}, [remark])})
    assert read(text) == {"kafka_config": values}


@pytest.mark.parametrize("text", HOSTILE)
def test_ansible_itself_reads_it_and_takes_nothing_for_a_template(text: str) -> None:
    # Trusted, as Ansible reads the files of an inventory; of other text it takes nothing for a template.
    loaded = DataLoader().load(trust_as_template(document({"v": {"k": text}, "w": [text, {text: text}]})))
    templar = Templar(loader=DataLoader(), variables=loaded)
    assert templar.template(loaded) == {"v": {"k": text}, "w": [text, {text: text}]}


@EXAMPLES
@given(TEXTS, TEXTS)
def test_a_secret_within_a_text_is_the_only_template_in_it(before: str, after: str) -> None:
    secret = Secret("ssl.keystore.password")
    written = document({"v": Text((before, secret, after))})
    assert "{{ vault_kafka_ssl_keystore_password }}" in read(written)["v"]
    template = trust_as_template(read(written)["v"])
    done = Templar(loader=DataLoader(), variables={secret.variable: "hunter2"}).template(template)
    assert done == f"{before}hunter2{after}"


def test_names_of_secrets_are_those_of_their_properties_and_no_two_share_one() -> None:
    names = [Secret(what).variable for what in ("a.b", "a_b", "a-b", "A.b")]
    assert names[0] == "vault_kafka_a_b"
    assert len({*names[:2], names[3]}) == 3
    assert list(secrets({"a": [Secret("x"), {"b": Text(("y", Secret("z")))}]})) == [Secret("x"), Secret("z")]


def test_no_variables_make_no_file() -> None:
    assert document({}) == ""
