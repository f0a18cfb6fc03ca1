# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of a flow tells its last drill also where the source is lost, and asks no silent target twice."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    ClusterUnreachableError,
    StreamopsError,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror import look
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from tests.support.cluster import ROOT


def failure_of(monkeypatch: pytest.MonkeyPatch, silent: tuple[str, ...]) -> dict[str, Any]:
    """Return why a look at the flow a->b fails while these clusters do not answer; empty where all do."""

    class Opened:
        """A session with a cluster."""

        def __init__(self, cluster: str) -> None:
            self.connection = cluster

        def __enter__(self) -> Opened:
            if self.connection in silent:
                raise ClusterUnreachableError({f"{self.connection}:9092": "no answer"})
            return self

        def __exit__(self, *_error: object) -> None:
            """Nothing is open."""

    monkeypatch.setattr(look, "Session", Opened)
    monkeypatch.setattr(look, "cluster_id", lambda session: session.connection)
    monkeypatch.setattr(look, "look_within", lambda *_arguments: SimpleNamespace())
    clusters: Any = ("a", "b")
    try:
        look.look(Flow("a", "b", (".*",)), *clusters, 0)
    except StreamopsError as error:
        return error.failure
    return {}


@pytest.mark.parametrize(("silent", "is_asked"), [((), True), (("a",), True), (("b",), False), (("a", "b"), True)])
def test_the_last_drill_is_asked_unless_the_target_was_silent_before(
    monkeypatch: pytest.MonkeyPatch, silent: tuple[str, ...], is_asked: bool
) -> None:
    tasks = yaml.safe_load((ROOT / "roles" / "mirror_maker" / "tasks" / "status_flow.yml").read_text())
    (read,) = (task for task in tasks if "streamops.kafka.mirror_drill" in task)
    known = {
        "_mirror_maker_flow": {"engine": "mirror_maker_2", "untouched_source": False},
        "_mirror_maker_failure": failure_of(monkeypatch, silent),
    }
    templar = Templar(loader=DataLoader(), variables=known)
    assert templar.template(trust_as_template(f"{{{{ {read['when']} }}}}")) is is_asked
