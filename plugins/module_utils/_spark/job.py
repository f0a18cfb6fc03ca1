# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A Spark job of the package spark_validation: its command, and how a run that is watched stands. Pure.

Job and collection share no code, only file formats: arguments in (JSON), progress out (JSON lines), result out (JSON).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import (
    DONE,
    FAILED,
    GOING,
    Meter,
    Step,
    pace,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import is_secret

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Options of the watch: the module documents and checks them, the action that repeats the module reads them.
WATCH_OPTIONS: dict[str, Any] = {
    "timeout": {"type": "int", "default": 900},
    "interval": {"type": "float", "default": 2.0},
    "job": {"type": "str", "choices": ["smoke", "mirror_audit"], "default": "smoke"},
    "output_dir": {"type": "path", "required": True},
    "run_id": {"type": "str"},
    "audit_run_id": {"type": "str"},
    "arguments": {"type": "dict", "default": {}},
    "client_properties": {"type": "dict", "default": {}},
    "source_client_properties": {"type": "dict", "default": {}},
}
#: The name of a run is that of its directory; the job takes no other (spark_validation/fields.py).
RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")
SMOKE, MIRROR_AUDIT = "smoke", "mirror_audit"

PASS = "pass"
_LOG_LINES = 10

#: Up to so many records the job smoke costs less processor time without Java's second compiler; more were not measured
#: (docs/benchmarks.md).
SHORT = 1_000_000
#: Without that compiler. Java 17 then shrinks its cache of compiled code from 240 MB to 48 MB, which a long session
#: fills, so the size is given.
_FIRST_COMPILER_ONLY = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
# Spark puts these before spark.driver.extraJavaOptions, which may stand in the settings of the host, too.
_JAVA_OPTIONS = "spark.driver.defaultJavaOptions"


def split_secrets(properties: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Part native client properties into plain ones and secret ones, which travel in an option with no_log."""
    plain: dict[str, str] = {}
    secret: dict[str, str] = {}
    for name, value in properties.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        (secret if is_secret(name) else plain)[name] = text
    return plain, secret


def refusal(options: Mapping[str, Any]) -> str:
    """Why a job cannot run with these names of runs, before anything is written below them; empty when it can."""
    if options["audit_run_id"] and options["job"] != SMOKE:
        return (
            f"audit_run_id reads an earlier run of job smoke again by its ledger; {options['job']} has none. "
            "Nothing was started."
        )
    for option in ("run_id", "audit_run_id"):
        if options[option] and not RUN_ID.fullmatch(options[option]):
            return (
                f"{option} cannot be the name of a directory (found: {options[option]!r}, allowed: up to 32 letters, "
                "digits, dots, dashes or underscores, the first a letter or a digit). Nothing was started."
            )
    return ""


def place(options: Mapping[str, Any], stamp: str, drawn: str) -> tuple[str, dict[str, Any]]:
    """Return the directory of a run and the job's whole arguments.

    ``stamp`` is the time and ``drawn`` a few random characters: two clusters may start a run in the same second.
    Only the job smoke has modes and a ledger.
    """
    base, again = options["output_dir"].rstrip("/"), options["audit_run_id"]
    if options["job"] != SMOKE:
        run_id = options["run_id"] or f"{stamp}-{drawn}"
        return f"{base}/{run_id}", dict(options["arguments"], run_id=run_id)
    if again:
        arguments = {"mode": "audit", "run_id": again, "ledger_file": f"{base}/{again}/ledger.json"}
        return f"{base}/{again}/audit-{stamp}-{drawn}", dict(options["arguments"], **arguments)
    run_id = options["run_id"] or f"{stamp}-{drawn}"
    return f"{base}/{run_id}", dict(options["arguments"], mode="run", run_id=run_id)


def with_properties(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the job's arguments with the client properties, secrets included, where the job expects them."""
    target = dict(params["client_properties"], **(params["secret_properties"] or {}))
    arguments = dict(params["arguments"], output_dir=params["job_dir"])
    if params["job"] != MIRROR_AUDIT:
        return dict(arguments, kafka=target)
    source = dict(params["source_client_properties"], **(params["source_secret_properties"] or {}))
    for side, properties in (("source", source), ("target", target)):
        arguments[side] = dict(arguments.get(side) or {}, kafka=properties)
    return arguments


def command(params: Mapping[str, Any], package_zip: str, arguments_file: str) -> list[str]:
    """Return the argument list of spark-submit; it names files only, so that no secret shows in a process list."""
    argv = [params["spark_submit"], "--master", params["master"]]
    if params["jars"]:
        argv += ["--jars", ",".join(params["jars"])]
    for name, value in sorted({**_own_conf(params), **params["conf"]}.items()):
        argv += ["--conf", f"{name}={value}"]
    argv += ["--py-files", package_zip, f"{params['package']}/__main__.py"]
    return [*argv, params["job"], "--args-file", arguments_file]


def _own_conf(params: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings of Spark that follow from the size of a job: with a local master the driver does it all."""
    records = params["arguments"].get("records")
    short = isinstance(records, int) and records <= SHORT and not params["audit_run_id"]
    if params["job"] == SMOKE and params["master"].startswith("local") and short:
        return {_JAVA_OPTIONS: _FIRST_COMPILER_ONLY}
    return {}


def summary(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a play needs of a result.json: verdict, checks without their examples, headline figures."""
    wanted = ("name", "status", "title", "expected", "actual", "difference", "unit", "suggests")
    figures = document.get("figures") or {}
    headline = {name: figures[name] for name in ("write", "read", "total", "phases") if name in figures}
    for name in ("latency", "live"):
        if name in figures:
            headline[name] = {key: value for key, value in figures[name].items() if key != "histogram"}
    return {
        **{name: document.get(name) for name in ("schema", "run_id", "mode", "verdict", "message", "seconds")},
        "findings": document.get("findings", []),
        "checks": [{name: check.get(name) for name in wanted} for check in document.get("checks", [])],
        "figures": headline,
    }


def complaint(found: Mapping[str, Any], job_dir: str) -> str:
    """Return the failure message of a finished job: what is wrong, where, how much, and where the report is."""
    result = found.get("result")
    if not result:
        last = " | ".join(found.get("log_tail", [])[-5:])
        return (
            f"Spark job in {job_dir}: ended with exit code {found['exit_code']} and no result.json. Last lines: {last}"
        )
    lines = [
        *result["findings"],
        f"Verdict {result['verdict']} of run {result['run_id']}",
        f"Report: {found['report']}",
    ]
    return ". ".join(lines)


def failure(found: Mapping[str, Any], job_dir: str) -> dict[str, Any]:
    """Return what the task of a failed job says: the cause, and no line of a log when the job itself told it."""
    said: dict[str, Any] = {"failed": True, "msg": found["msg"] if found.get("failed") else complaint(found, job_dir)}
    if found.get("result"):
        checks = [check for check in found["result"]["checks"] if check["status"] not in (PASS, "info")]
        return {**said, "result": {**found["result"], "checks": checks, "figures": {}}}
    return {**said, "log_tail": found.get("log_tail", [])[-_LOG_LINES:]}


def left_alone(started: Mapping[str, Any], job_dir: str) -> str:
    """Say what becomes of a started job when its run is interrupted, and how to end it at once."""
    return (
        f"Spark job in {job_dir}: if this run is interrupted, the job ends {started['unwatched_seconds']} s later; "
        f"to end it at once, on its host: kill -- -{started['pid']}"
    )


class Tracker:
    """Follows one job over many looks and says how it stands, in one line for people."""

    def __init__(self) -> None:
        self._meter, self._phase = Meter(), ""
        self._text = "start: spark-submit starts"
        self.offset = 0
        self.last: dict[str, Any] = {}

    def step(self, found: Mapping[str, Any]) -> Step:
        """Judge one look."""
        self.last = dict(found)
        if found.get("failed"):
            return Step(FAILED, f"the look failed: {found.get('msg')}")
        self.offset = found["offset"]
        text, facts = self._standing(found["progress"])
        if found["running"]:
            return Step(GOING, text, facts)
        verdict = (found.get("result") or {}).get("verdict")
        facts = {"exit_code": found["exit_code"], "verdict": verdict}
        return Step(DONE if verdict == PASS and found["exit_code"] == 0 else FAILED, f"verdict {verdict}", facts)

    def _standing(self, lines: Sequence[Mapping[str, Any]]) -> tuple[str, dict[str, Any]]:
        for line in lines:
            if line["phase"] != self._phase:
                self._meter, self._phase = Meter(), line["phase"]
            if line.get("total"):
                self._meter.add(line["t"], line["done"])
        if not lines:
            return self._text, {"phase": self._phase}
        last = lines[-1]
        speed = pace(self._meter, last["total"], last["unit"]) if last.get("total") else ""
        self._text = f"{last['phase']}: {last['message']}" + (f", {speed}" if speed else "")
        return self._text, {"phase": last["phase"], "done": last.get("done"), "total": last.get("total")}
