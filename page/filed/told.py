"""What a report tells of itself, read from the JSON beside it, whatever that is. Pure.

Four forms are known: that of a status (plugin_utils/reports/status_data.py), that of a Spark job
(spark_validation/core/result.py), that of a move (plugin_utils/reports/move_data.py) and that of a proof
(plugin_utils/reports/proof_data.py).
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import duration
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.move_data import MOVE_SCHEMA, PLANNED
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.move_lines import megabytes
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.proof_data import PROOF_SCHEMA, VERDICTS
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_data import SCHEMA
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_view import LOOKS

UNKNOWN, STATUS, MOVE, VALIDATION, MIRROR_AUDIT = "unknown", "status", "move", "validation", "mirror audit"
PROOF, PROOF_READ = "proof of a roll", "second reading of a proof"
#: Of a Spark job (spark_validation/core/result.py, which the page does not have).
SPARK_SCHEMA = "streamops.spark_validation.result/1"
_JOBS = {"smoke": VALIDATION, "mirror_audit": MIRROR_AUDIT, "proof": PROOF_READ}
_VERDICTS = {"pass": "pass", "fail": "fail", "inconclusive": "inconclusive", "error": "fail"}
_OUTCOMES = {"done": "pass", PLANNED: "info", "failed": "fail"}
_SEVERITIES = ("down", "degraded", "note")
#: Characters of a text that is shown, clusters and checks that are read, and the largest count that is one.
_LONGEST, _MOST, _LARGEST = 200, 10_000, 10**18
#: From 1970 to the year 9000, in seconds: what every calendar here has.
_LAST = 221_845_392_000

Row = Mapping[str, Any]


class _WrongError(Exception):
    """What is wrong with the JSON of a report."""


@dataclass(frozen=True)
class Told:
    """What a report tells.

    C(result) is a word, coloured by C(tone); C(said) one sentence or two. C(clusters) are those that it names itself.
    C(began): seconds since 1970, None where it is not known.
    """

    kind: str = UNKNOWN
    result: str = UNKNOWN
    tone: str = "info"
    said: str = ""
    clusters: tuple[str, ...] = ()
    began: float | None = None


def told_of(text: str) -> Told:
    """Return what the JSON of a report tells; of one that cannot be read the kind is UNKNOWN, and C(said) has why."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return Told(said="The file beside it is no JSON that can be read.")
    if not isinstance(given, dict):
        return Told(said="The JSON beside it is no object.")
    read = _READERS.get(_text(given.get("schema")) if "schema" in given else "")
    if read is None:
        return Told(said="The JSON beside it has a form that this page does not know.")
    try:
        return read(given)
    except _WrongError as error:
        return Told(said=f"The JSON beside it is not as it must be: {error}.")


def _status(given: Row) -> Told:
    clusters = [_object(one, "a cluster") for one in _list(given, "clusters")]
    flows = [_object(one, "a mirror") for one in _list(given, "mirrors")]
    word = _one_of(given, "status", LOOKS)
    found = Counter(
        _one_of(_object(one, "a finding"), "severity", _SEVERITIES)
        for part in (*clusters, *flows)
        for one in _list(part, "findings")
    )
    told = ", ".join(f"{found[one]:,} {one}" for one in _SEVERITIES if found[one])
    counted = [f"{len(some):,} {word}{'' if len(some) == 1 else 's'}"
               for some, word in ((clusters, "cluster"), (flows, "mirror")) if some]  # fmt: skip
    said = f"{' and '.join(counted) or 'No cluster'}; {f'findings: {told}' if told else 'no finding'}."
    names = tuple(dict.fromkeys(_name(one, "name") for one in clusters))
    return Told(STATUS, word, LOOKS[word][0], said, names, _time(given, "made"))


def _spark(given: Row) -> Told:
    job, verdict = _one_of(given, "job", _JOBS), _one_of(given, "verdict", _VERDICTS)
    checks = Counter(_name(_object(one, "a check"), "status") for one in _list(given, "checks"))
    passed, all_ = checks["pass"], sum(checks.values()) - checks["info"]
    began, seconds = _number(given, "started_ms") / 1000, _number(given, "seconds")
    said = f"{passed:,} of {all_:,} checks passed in {duration(seconds)}."
    if given.get("message"):
        said += f" {_name(given, 'message')}"
    clusters: tuple[str, ...] = ()
    if job == "mirror_audit":
        settings = _object(given.get("settings"), "settings")
        sides = [settings.get(side) for side in ("source", "target")]
        clusters = tuple(_name(one, "alias") for one in sides if isinstance(one, dict) and "alias" in one)
    return Told(_JOBS[job], verdict, _VERDICTS[verdict], said, clusters, _within(began, "started_ms"))


def _move(given: Row) -> Told:
    outcome = _one_of(given, "outcome", _OUTCOMES)
    title, cluster = _name(given, "title"), _name(given, "cluster")
    made, seconds = _time(given, "made"), given.get("seconds")
    took = None if seconds is None else _number(given, "seconds")
    told = [f"{_number(given, 'moves'):,.0f} replicas"] if given.get("moves") is not None else []
    told += [megabytes(_number(given, "bytes"))] if given.get("bytes") is not None else []
    said = ": ".join(filter(None, [title, ", ".join(told)]))
    if took is not None:
        said += f" in {duration(took)}"
    return Told(MOVE, outcome, _OUTCOMES[outcome], f"{said}.", (cluster,), _within(made - (took or 0), "made"))


def _proof(given: Row) -> Told:
    verdict = _one_of(given, "verdict", VERDICTS)
    acknowledged = sum(_number(_object(given.get("acknowledged"), "acknowledged"), kind) for kind in _KINDS)
    lost, repeated, reordered = (_number(given, what) for what in ("lost", "repeated", "reordered"))
    said = (
        f"{_counted(given)} restarted; {acknowledged:,.0f} records acknowledged, {lost:,.0f} lost, {repeated:,.0f} "
        f"repeated, {reordered:,.0f} out of order."
    )
    begins = [_number(_object(one, "a restart"), "stopped") for one in _list(given, "restarts")]
    began = _within(min(begins), "stopped") if begins else _time(given, "made")
    return Told(PROOF, verdict, VERDICTS[verdict], said, (_name(given, "cluster"),), began)


def _counted(given: Row) -> str:
    nodes = len(_list(given, "restarts"))
    return "1 node" if nodes == 1 else f"{nodes:,} nodes"


_KINDS = ("idempotent", "transactional")
#: By the schema that a report names.
_READERS: Mapping[str, Callable[[Row], Told]] = {
    str(SCHEMA): _status,
    SPARK_SCHEMA: _spark,
    MOVE_SCHEMA: _move,
    PROOF_SCHEMA: _proof,
}


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _object(value: object, what: str) -> Row:
    if not isinstance(value, dict):
        raise _WrongError(f"{what} is no object")
    return value


def _list(given: Row, key: str) -> list[Any]:
    value = given.get(key)
    if not isinstance(value, list) or len(value) > _MOST:
        raise _WrongError(f"{key} is no list of at most {_MOST:,}")
    return value


def _name(given: Row, key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str):
        raise _WrongError(f"{key} is no text")
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..."


def _one_of(given: Row, key: str, words: Any) -> str:
    value = given.get(key)
    if not isinstance(value, str) or value not in words:
        raise _WrongError(f"{key} is none of {', '.join(words)}")
    return value


def _number(given: Row, key: str) -> float:
    value = given.get(key)
    # What is no number (NaN) is not within bounds either.
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= _LARGEST:
        raise _WrongError(f"{key} is no number from 0 on")
    return value


def _time(given: Row, key: str) -> float:
    try:
        made = datetime.fromisoformat(_name(given, key))
        # Without a zone a time would be that of this machine.
        seconds = made.timestamp() if made.tzinfo else -1
    except (ValueError, OverflowError):
        seconds = -1
    return _within(seconds, key)


def _within(seconds: float, key: str) -> float:
    if not 0 <= seconds <= _LAST:
        raise _WrongError(f"{key} is no time from 1970 on")
    return seconds
