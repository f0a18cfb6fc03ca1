# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/development/house.md lists every key of the model, and of each mapping in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.render.parts import Parts
from tests.lint.test_roles import ROOT
from tests.support.inventory_data import view

PAGE = (ROOT / "docs" / "development" / "house.md").read_text()
#: The rows of its tables, by each name that their first cell says.
ROWS = {
    name: row
    for row in PAGE.splitlines()
    if row.startswith("| `")
    for name in re.findall(r"`(\w+)`", row.split("|")[1])
}


def keys() -> Iterator[tuple[str, str]]:
    """Each key of the model, and each of a mapping in it, with the key that it is in (empty for one of the model)."""
    model = view({"a": {"kafka_node_id": 1}, "m": {}}, brokers=["a"], mirrors=["m"])
    for name in model:
        yield "", name
        try:
            inner = model[name]
        except ValueError:
            continue
        if isinstance(inner, Parts):
            yield from ((name, key) for key in inner)


@pytest.mark.parametrize(("part", "key"), list(keys()), ids=lambda word: word or "model")
def test_a_key_of_the_model_is_on_the_page(part: str, key: str) -> None:
    if part:
        assert f"`{key}`" in ROWS[part], f"house.md: the row of {part} lacks {key}"
    else:
        assert key in ROWS, f"house.md has no row for {key}"
