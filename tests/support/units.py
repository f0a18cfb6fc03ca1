"""The unit of a node as the template of the roles makes it from a model."""

from __future__ import annotations

from pathlib import Path

import jinja2

from ansible_collections.streamops.kafka.plugins.plugin_utils.render.view import View
from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import role_options

TEMPLATES = Path(__file__).resolve().parents[2] / "roles" / "_common" / "templates"


def rendered(model: View) -> str:
    """Return the text of the unit; variables beside the model have the defaults of their specs."""
    # As Ansible's own module template does it.
    environment = jinja2.Environment(trim_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined)
    defaults = {name: spec["default"] for name, spec in role_options().items() if "default" in spec}
    template = environment.from_string((TEMPLATES / "kafka.service.j2").read_text())
    return template.render(**defaults, _model=model, _settings=defaults, ansible_managed="managed")
