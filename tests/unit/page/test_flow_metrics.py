"""The text for Prometheus on flows: their states and lags, and that unchanged pictures cost nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from page.core.exposition import exposition
from page.flow_metrics import FlowMetrics, families_of_flow
from page.known.picture import Picture
from page.known.poller import Seen
from tests.support.page_seen import FLOWS, looked, served
from tests.support.prometheus import promtool_reads


def picture(seen: dict[str, Seen], name: str) -> Picture | None:
    return seen[name].picture if name in seen else None


def values(flow: Flow, **ends: Any) -> dict[str, float]:
    """By name, and state where there is one, the values of a flow."""
    found = re.findall(r"^streamops_page_mirror_(\w+){(.*)} (\S+)$", exposition([families_of_flow(flow, **ends)]), re.M)
    labels = f'cluster="{flow.target}",source="{flow.source}",target="{flow.target}"'
    assert all(one.startswith(labels) for _name, one, _value in found)
    return {name + one[len(labels) :]: float(value) for name, one, value in found}


def test_a_flow_tells_its_state_its_lag_and_its_topics() -> None:
    seen = looked([])
    found = values(FLOWS[0], source=picture(seen, "orders"), target=picture(seen, "copy"))
    assert found["behind_seconds"] == 7200.5
    assert found["heartbeat_age_seconds"] == pytest.approx(1.8, abs=0.1)
    states = {name: value for name, value in found.items() if name.startswith("state")}
    assert states == {'state,state="alive"': 1, 'state,state="silent"': 0, 'state,state="unknown"': 0}
    topics = {name[14:-1]: int(value) for name, value in found.items() if name.startswith("topics")}
    assert (topics["missing"], topics["nothing_mirrored"]) == (1, 1)
    assert topics["behind"] > 30
    assert len(topics) == 8


@pytest.mark.parametrize(
    ("source", "target", "state"), [("orders", "", "unknown"), ("", "copy", "alive"), ("", "", "unknown")]
)
def test_what_an_end_that_is_not_seen_would_tell_has_no_series(source: str, target: str, state: str) -> None:
    seen = looked([])
    found = values(FLOWS[0], source=picture(seen, source), target=picture(seen, target))
    assert found[f'state,state="{state}"'] == 1
    assert "behind_seconds" not in found
    assert ("heartbeat_age_seconds" in found) is bool(target)
    assert not found['topics,state="behind"']


def test_a_flow_is_looked_at_anew_only_with_a_new_picture() -> None:
    seen = looked([])
    metrics = FlowMetrics(FLOWS[:1])
    (first,) = metrics.families(lambda name: picture(seen, name))
    (second,) = metrics.families(lambda name: picture(seen, name))
    assert first is second
    (other,) = metrics.families(lambda name: None)
    assert other is not first


def test_a_scrape_has_the_flows_and_promtool_takes_it() -> None:
    seen = looked()
    with served(lambda: seen) as page:
        text = page.get("/metrics").text
    assert promtool_reads(text) == (0, "")
    assert 'streamops_page_mirror_state{cluster="copy",source="orders",target="copy",state="alive"} 1' in text
    # Its picture is older than stale_after, so nothing of it holds.
    assert 'streamops_page_mirror_state{cluster="payments",source="orders",target="payments",state="unknown"} 1' in text
    assert text.count("streamops_page_mirror_topics{") == 8 * len(FLOWS)
