# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The texts of a node's files that templates make (roles/_common/templates), without Ansible's own engine.

A template reads the model, which holds no template any more, so Jinja2 alone makes of it what Ansible would, in a
hundredth of the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ansible.plugins.filter.core import to_nice_json, to_nice_yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ...module_utils._core.properties import to_text

TEMPLATES = Path(__file__).resolve().parents[3] / "roles" / "_common" / "templates"


@cache
def engine() -> Environment:
    """Return the engine of these templates, set as Ansible's for templates is."""
    found = Environment(
        loader=FileSystemLoader(TEMPLATES),
        trim_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        auto_reload=False,
    )
    found.filters["streamops.kafka.to_properties"] = to_text
    found.filters["to_nice_yaml"] = to_nice_yaml
    return found


def text(template: str, model: Mapping[str, Any], managed: str) -> str:
    """Return what a template (its name) makes of the model of a node; managed -- the line by which Ansible is known."""
    names = {"_model": model, "_settings": model["settings"], "ansible_managed": managed}
    return engine().get_template(template).render(names)


def nice_json(value: Any) -> str:
    """Return a value as the JSON of a file."""
    return f"{to_nice_json(value)}\n"
