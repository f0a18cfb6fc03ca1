# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Ask a broker what it runs with, and compare that with what it ran with before; nothing is changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._client.session import Session
from .._configs.api import BROKER, describe_configs
from .properties import compared, held, held_for_good, line, of_plain, plain, refuse_others


def broker_properties(session: Session, params: Mapping[str, Any], _check: bool, _diff: bool) -> dict[str, Any]:
    """Return what a broker holds, or how that differs from before; the module's result.

    What a broker holds it alone answers (KafkaApis, ConfigHelper). Raises PropertiesDifferError.
    """
    broker: int = params["broker"]
    values = describe_configs(session, BROKER, {str(broker): None})[str(broker)]
    if params["before"] is None:
        return {"changed": False, "properties": plain(held(values))}
    result = compared(of_plain(params["before"]), held_for_good(values), params["planned"])
    refuse_others(broker, result)
    return {
        "changed": False,
        "identical": result.identical,
        "planned": list(result.planned),
        "line": line(broker, result),
    }
