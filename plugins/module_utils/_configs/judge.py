# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What Kafka would refuse of configuration changes, asked before any is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._core.bulk import batches, failures


def judge_configs(
    validate: Callable[[Mapping[str, Mapping[str, str | None]]], Mapping[str, Any]],
    changes: Mapping[str, Mapping[str, str | None]],
) -> list[tuple[str, str, str]]:
    """Return what Kafka would refuse of these configuration changes, key by key, as (name, error name, why).

    Kafka names the first bad key only, so what it refuses is asked again, one key of each name in a request.
    """
    refused: dict[str, tuple[str, str]] = {}
    for batch in batches((name, len(config)) for name, config in changes.items()):
        refused.update(failures(validate({name: changes[name] for name in batch})))
    alone: list[tuple[str, str, str]] = []
    for position in range(max((len(changes[name]) for name in refused), default=0)):
        single = {
            name: dict([list(changes[name].items())[position]]) for name in refused if position < len(changes[name])
        }
        alone += [(name, code, why) for name, (code, why) in failures(validate(single)).items()]
    named = {name for name, _code, _why in alone}
    return alone + [(name, code, why) for name, (code, why) in refused.items() if name not in named]
