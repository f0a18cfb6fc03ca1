"""Which rights an observation of the ISR needs: those of what it is asked about, and no others."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Partition, Snapshot
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError
from ansible_collections.streamops.kafka.plugins.module_utils._gate import look
from ansible_collections.streamops.kafka.plugins.module_utils._gate.isr import Goal

SEEN = Snapshot("", None, (), (Partition("seen", 0, 1, (1,), (1,), 1, False),), None)


class Opened(Session):
    """A session that needs no cluster."""

    def __enter__(self) -> Opened:
        return self


@pytest.fixture(autouse=True)
def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks may describe the topic that is seen, and not the cluster."""

    def refuse(_session: Session, what: str) -> None:
        raise RequestFailedError(what, "of all topics", "CLUSTER_AUTHORIZATION_FAILED", "no right")

    def hidden(_session: Session, names: Iterable[str]) -> list[str]:
        return [name for name in names if name != "seen"]

    monkeypatch.setattr(look, "Session", Opened)
    monkeypatch.setattr(look, "require_describe", refuse)
    monkeypatch.setattr(look, "hidden_topics", hidden)
    monkeypatch.setattr(look, "glance", lambda _session: SEEN)


def test_who_may_describe_the_topics_that_are_named_need_not_describe_the_cluster() -> None:
    observer = look.IsrObserver(Connection(("a:1",)), Goal("topics", topics=("seen",)))
    assert observer.take().good


def test_a_topic_that_is_hidden_is_refused_with_the_right_that_is_missing() -> None:
    observer = look.IsrObserver(Connection(("a:1",)), Goal("topics", topics=("seen", "hidden")))
    with pytest.raises(RequestFailedError, match="the operation describe on the topic hidden") as failed:
        observer.take()
    assert not failed.value.passing


@pytest.mark.parametrize("goal", [Goal("cluster"), Goal("own", broker=1)])
def test_who_asks_about_all_topics_must_see_them_all(goal: Goal) -> None:
    with pytest.raises(RequestFailedError, match="of all topics"):
        look.IsrObserver(Connection(("a:1",)), goal).take()
