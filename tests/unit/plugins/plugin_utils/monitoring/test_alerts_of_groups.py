"""Alerts on groups, judged by Prometheus' own promtool: groups that stopped fire, abandoned and deleted ones do not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.plugin_utils.monitoring.rules import chosen, rules, table
from tests.support.prometheus import promtool

LAG, OFFSET, WANTED = (
    "kafka_consumergroup_lag",
    "kafka_consumergroup_current_offset",
    "kafka_consumergroup_topic_wanted",
)
STATE, WATCHED, OLDEST = (
    "kafka_consumergroup_state",
    "kafka_consumergroup_watched",
    "kafka_topic_partition_oldest_offset",
)
ABOUT = [alert.name for alert in table() if "consumergroup" in alert.query and alert.name != "KafkaGroupLate"]
STOPPED, MISSING, BEHIND, REWOUND, LOST = (
    "KafkaGroupStopped",
    "KafkaGroupMissing",
    "KafkaGroupFallsBehind",
    "KafkaGroupRewound",
    "KafkaGroupLostRecords",
)
Series = Mapping[str, str]


def of(group: str, partitions: int = 1, **values: str) -> dict[str, str]:
    """The series of a group, by minutes: `lag` and `offset` of each partition of a topic, `wanted` there, `watched`."""
    found, topic = {}, values.pop("topic", "t")
    for index in range(partitions):
        labels = f'cluster="c",consumergroup="{group}",topic="{topic}",partition="{index}"'
        found |= {
            f"{name}{{{labels}}}": values[key] for key, name in (("lag", LAG), ("offset", OFFSET)) if key in values
        }
    labels = f'cluster="c",consumergroup="{group}"'
    if "watched" in values:
        found[f"{WATCHED}{{{labels}}}"] = values["watched"]
    if "wanted" in values:
        found[f'{WANTED}{{{labels},topic="{topic}"}}'] = values["wanted"]
    found[f'{STATE}{{{labels},state="x",type="classic"}}'] = values.get("state", "1x400")
    return found


#: A node of the cluster, which Prometheus reads.
UP = {'up{cluster="c",instance="n1",job="kafka"}': "1x400"}


def fired(folder: Path, series: Series, at: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """By time and alert the groups for which it fires after these series, as Prometheus evaluates it."""
    written = rules([alert for alert in chosen(table(), {}) if alert.name in ABOUT])
    for group in written["groups"]:
        for rule in group["rules"]:
            rule["annotations"] = {}
    (folder / "rules.yml").write_text(yaml.safe_dump(written))
    never = [{"exp_labels": {"none": "x"}}]
    steps = [{"eval_time": time, "alertname": name, "exp_alerts": never} for time in at for name in ABOUT]
    case = {
        "rule_files": ["rules.yml"],
        "evaluation_interval": "1m" if "m" in "".join(at) else "4m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": name, "values": values} for name, values in {**UP, **series}.items()],
                "alert_rule_test": steps,
            }
        ],
    }
    (folder / "case.yml").write_text(yaml.safe_dump(case))
    _status, said = promtool("test", "rules", folder / "case.yml")
    return told(said)


def told(said: str) -> dict[str, dict[str, list[str]]]:
    """What promtool found instead of the alert that is never there, by time and name of the alert."""
    found: dict[str, dict[str, list[str]]] = {}
    for part in said.split("alertname: ")[1:]:
        name, time = re.match(r"(\w+), time: (\w+)", part).groups()  # type: ignore[union-attr]
        groups = re.findall(r'consumergroup="([^"]*)"', part.split("got:")[1])
        if groups:
            found.setdefault(time, {})[name] = groups
    return found


#: Series by minutes of one group with a member, and the alerts that fire after 20 minutes.
BURROW: dict[str, tuple[dict[str, str], list[str]]] = {
    "healthy": ({"lag": "5 0 3 0x20 0 2 0 1 0", "offset": "0+10x30"}, []),
    "idle": ({"lag": "0x30", "offset": "70x30"}, []),
    "stopped": ({"lag": "10+10x30", "offset": "70x30"}, [STOPPED]),
    "falls behind": ({"lag": "10+10x30", "offset": "0+5x30"}, [BEHIND]),
    "catches up": ({"lag": "1000-10x30", "offset": "0+60x30"}, []),
    "rewound": ({"lag": "1x15 900-40x15", "offset": "0+60x15 10+60x15"}, [REWOUND]),
    "got its first record a minute ago": ({"lag": "0x18 5x12", "offset": "70x30"}, []),
}


@pytest.mark.parametrize("case", BURROW)
def test_groups_are_judged_as_burrow_judges_them(tmp_path: Path, case: str) -> None:
    series, expected = BURROW[case]
    found = fired(tmp_path, of("g", wanted="1x30", **series), ["20m"])
    assert found.get("20m", {}) == {name: ["g"] for name in expected}


def test_the_stopped_groups_among_hundreds_fire_once_for_each_topic(tmp_path: Path) -> None:
    abandoned: dict[str, str] = {}
    for number in range(20):
        abandoned |= of(f"old{number}", 6, lag="9x400", offset="5x400", wanted="0x400")
    for number in range(5):
        abandoned |= of(f"deleted{number}", 6, lag="9x60", offset="5x60", wanted="1x60", state="1x60")
    stopped = {
        **of("member hangs", 6, lag="9x400", offset="5x400", wanted="2x400"),
        **of("members left", 6, lag="9x400", offset="0+1x100 100x300", wanted="2x100 0x300"),
        **of("assigns itself", 6, lag="9x400", offset="0+1x100 100x300", wanted="0x400"),
        # The page says so of all topics of a group that is named.
        **of("named", 6, lag="9x400", offset="5x400", wanted="1x400", watched="1x400"),
    }
    well = of("well", 6, lag="0x400", offset="0+5x400", wanted="3x400")
    found = fired(tmp_path, {**abandoned, **stopped, **well}, ["6h"])
    assert {name: sorted(groups) for name, groups in found["6h"].items()} == {
        STOPPED: ["assigns itself", "member hangs", "members left", "named"],
        # Muted by the first: it goes on until that has ended, so that whoever was told it is told its end.
        "KafkaGroupFallsBehind": ["assigns itself", "members left"],
    }


def test_a_topic_that_a_group_no_longer_reads_is_told_of_no_more(tmp_path: Path) -> None:
    new = of("g", 2, lag="0x400", offset="0+5x400", wanted="1x400", topic="new")
    old = of("g", 2, lag="0+1x400", offset="70x400", wanted="0x400", topic="old")
    assert fired(tmp_path, {**new, **old}, ["6h"]) == {}


def test_it_fires_until_the_group_reads_again_also_past_the_hours(tmp_path: Path) -> None:
    dead = of("g", 1, lag="0x60 0+1x3000", offset="0+5x60 300x3000", wanted="1x60 0x3000", state="1x3060")
    assert fired(tmp_path, dead, ["20h", "40h"]) == {"20h": {STOPPED: ["g"]}, "1d16h": {STOPPED: ["g"]}}


def test_two_pages_of_a_cluster_say_the_same_once(tmp_path: Path) -> None:
    one = of("g", 2, lag="9x60", offset="5x60", wanted="1x60")
    one[f'{OLDEST}{{cluster="c",topic="t",partition="0"}}'] = "50x60"
    both = {f'{series[:-1]},instance="{page}"}}': values for series, values in one.items() for page in ("p1", "p2")}
    assert fired(tmp_path, both, ["20m"]) == {"20m": {STOPPED: ["g"], LOST: ["g"]}}


def test_a_group_that_was_deleted_is_told_no_more(tmp_path: Path) -> None:
    series = of("g", 2, lag="9x30 stale", offset="5x30 stale", wanted="1x30 stale", state="1x30 stale")
    # The page goes on and has heard all brokers; else nobody knows whether the group is gone.
    heard = {'kafka_lag_silent_brokers{cluster="c"}': "0x60"}
    found = fired(tmp_path, {**series, **heard}, ["25m", "32m", "50m"])
    assert found == {"25m": {STOPPED: ["g"]}}
    assert fired(tmp_path, series, ["50m"]) == {"50m": {STOPPED: ["g"]}}


@pytest.mark.parametrize("minutes", [3, 8, 14, 16, 20, 40])
def test_a_pause_of_the_page_makes_no_ghost(tmp_path: Path, minutes: int) -> None:
    """Before it the group had records to read, after it the same again; meanwhile it read, and nothing saw it."""
    gap = f"stale _x{minutes - 1}"
    series = of("g", 2, lag=f"0x10 5x10 {gap} 7x40", offset=f"0+5x20 {gap} 900+5x40", wanted=f"1x20 {gap} 1x40")
    idle = of("idle", 2, lag=f"0x20 {gap} 3x2 0x40", offset=f"70x20 {gap} 70x2 73x40", wanted=f"1x20 {gap} 1x40")
    times = [f"{20 + minutes + after}m" for after in (1, 2, 5, 10)]
    assert all(STOPPED not in alerts for alerts in fired(tmp_path, {**series, **idle}, times).values())


def test_a_watched_group_that_does_not_exist_is_told(tmp_path: Path) -> None:
    series = {f'{WATCHED}{{cluster="c",consumergroup="g"}}': "1x60", **of("other", lag="0x60", offset="5x60")}
    silent = 'kafka_lag_silent_brokers{cluster="c"}'
    assert fired(tmp_path, {**series, silent: "0x60"}, ["20m"]) == {"20m": {MISSING: ["g"]}}
    # The broker that knows the group may be the one that told nothing.
    assert fired(tmp_path, {**series, silent: "1x60"}, ["20m"]) == {}


def test_records_that_retention_took_are_told_of_groups_that_somebody_counts_on(tmp_path: Path) -> None:
    oldest = {f'{OLDEST}{{cluster="c",topic="t",partition="0"}}': "50x60"}
    read = of("read", lag="0x60", offset="40x60", wanted="1x60")
    old = of("old", lag="0x60", offset="40x60", wanted="0x60")
    assert fired(tmp_path, {**oldest, **read, **old}, ["20m"]) == {"20m": {LOST: ["read"]}}
