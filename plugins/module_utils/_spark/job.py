# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A Spark job of the package spark_validation: its command, and how a run that is watched stands. Pure.

Job and collection share no code, only file formats: arguments in (JSON), progress out (JSON lines), result out (JSON).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .._client.login import KRB5_OPTION, TOKEN_ADDRESSES, TOKEN_URL
from .._core.progress import DONE, FAILED, GOING, Advance, Meter, Step, pace
from .._core.properties import is_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# Options of the watch: the module documents and checks them, the action that repeats the module reads them.
WATCH_OPTIONS: dict[str, Any] = {
    "timeout": {"type": "int", "default": 900},
    "interval": {"type": "float", "default": 2.0},
    "job": {"type": "str", "choices": ["smoke", "mirror_audit", "proof"], "default": "smoke"},
    "output_dir": {"type": "path", "required": True},
    "run_id": {"type": "str"},
    "audit_run_id": {"type": "str"},
    "arguments": {"type": "dict", "default": {}},
    "client_properties": {"type": "dict", "default": {}},
    "source_client_properties": {"type": "dict", "default": {}},
}
#: The name of a run is that of its directory; the job takes no other (spark_validation/core/fields.py).
RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")
SMOKE, MIRROR_AUDIT, PROOF = "smoke", "mirror_audit", "proof"

CLIENT, CLUSTER = "client", "cluster"

PASS = "pass"
_LOG_LINES = 10
#: What the copies of files that travel with a job are called in its directory.
CARRIED = "carried-"
#: The arguments of a job in cluster mode, as its driver finds them.
_ARGUMENTS = "arguments.json"
#: Where such a driver writes, in the directory that it is given.
_OUTPUT = "out"
#: Properties that name a file, such as ssl.truststore.location.
_NAMES_A_FILE = re.compile(r"\.location$")
#: The keytab in a JAAS text (TICKET_MODULE).
_JAAS, _KEYTAB = "sasl.jaas.config", re.compile(r'(?<= keyTab=")[^"\\]+(?=")')
_PROPERTIES = ("client_properties", "secret_properties", "source_client_properties", "source_secret_properties")

#: Up to so many records the job smoke costs less processor time without Java's second compiler; more were not measured
#: (docs/development/benchmarks.md).
SHORT = 1_000_000
#: Without that compiler. Java 17 then shrinks its cache of compiled code from 240 MB to 48 MB, which a long session
#: fills, so the size is given.
_FIRST_COMPILER_ONLY = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
# Spark puts these before spark.driver.extraJavaOptions, which may stand in the settings of the host, too.
_JAVA_OPTIONS, _EXECUTOR_OPTIONS = "spark.driver.defaultJavaOptions", "spark.executor.defaultJavaOptions"


def split_secrets(properties: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Part native client properties into plain ones and secret ones, which travel in an option with no_log."""
    plain: dict[str, str] = {}
    secret: dict[str, str] = {}
    for name, value in properties.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        (secret if is_secret(name) else plain)[name] = text
    return plain, secret


def refusal(options: Mapping[str, Any]) -> str:
    """Say why a job cannot run with these names of runs, before anything is written below them; empty when it can."""
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


def runs_drivers(master: str) -> bool:
    """Tell whether this kind of master runs Python drivers itself: Spark's standalone masters do not."""
    return not master.startswith(("local", "spark:"))


def deploy_refusal(params: Mapping[str, Any]) -> str:
    """Say why no job can run in this deploy mode, empty when it can."""
    master = params["master"]
    if params["deploy_mode"] != CLUSTER:
        return ""
    if not runs_drivers(master):
        kind = f"a master {master}" if master.startswith("local") else "a standalone master of Spark"
        return f"{kind} runs no Python driver in cluster mode; set deploy_mode to client"
    if not params["shared_dir"]:
        return "deploy_mode cluster needs shared_dir, where the driver leaves its result and this host finds it"
    return ""


def travelling(params: Mapping[str, Any], is_file: Callable[[str], bool]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the options with the names that files get on other machines, and these names by the files' paths.

    Spark puts each into the working directory of every executor, and of a driver in cluster mode; in client mode the
    driver works in the job's directory, where the copies lie. What is no file here is left as it is: it may be one
    there.
    """
    names: dict[str, str] = {}
    if params["master"].startswith("local"):
        return dict(params), names

    def name_of(path: str) -> str:
        return names.setdefault(path, f"{CARRIED}{len(names)}-{path.rpartition('/')[2]}")

    def renamed(key: str, value: str) -> str:
        if key == _JAAS:
            return _KEYTAB.sub(lambda path: name_of(path[0]) if is_file(path[0]) else path[0], value)
        return name_of(value) if _NAMES_A_FILE.search(key) and is_file(value) else value

    found = dict(params)
    for group in _PROPERTIES:
        found[group] = {key: renamed(key, value) for key, value in (params[group] or {}).items()}
    ledger = params["arguments"].get("ledger_file")
    if ledger and params["deploy_mode"] == CLUSTER:
        found["arguments"] = dict(params["arguments"], ledger_file=name_of(ledger))
    return found, names


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
    output = _OUTPUT if params["deploy_mode"] == CLUSTER else params["job_dir"]
    arguments = dict(params["arguments"], output_dir=output)
    if params["job"] != MIRROR_AUDIT:
        return dict(arguments, kafka=target)
    source = dict(params["source_client_properties"], **(params["source_secret_properties"] or {}))
    for side, properties in (("source", source), ("target", target)):
        arguments[side] = dict(arguments.get(side) or {}, kafka=properties)
    return arguments


def command(params: Mapping[str, Any], package_zip: str, arguments_file: str, files: Sequence[str] = ()) -> list[str]:
    """Return the argument list of the job; it names files only, so that no secret shows in a process list.

    ``files`` travel with it. In cluster mode the package's own escort submits: it fetches what the driver leaves.
    """
    if params["deploy_mode"] != CLUSTER:
        return [*_submit(params, package_zip, files), "--args-file", arguments_file]
    shared = _shared(params)
    own = [f"{params['job_dir']}/{_ARGUMENTS}", *files]
    escort = ["/usr/bin/env", f"PYTHONPATH={package_zip}", params["python"], "-m", "spark_validation", "escort"]
    escort += ["--shared-dir", shared, "--args-file", arguments_file, "--output", params["job_dir"], "--"]
    return [*escort, *_submit(params, package_zip, own), "--args-file", _ARGUMENTS, "--bring-to", shared]


def _shared(params: Mapping[str, Any]) -> str:
    """Return the URI of the directory of this run, named by what the run is about, too."""
    output_dir = params["output_dir"].rstrip("/")
    run = params["job_dir"].removeprefix(output_dir).strip("/").replace("/", "-")
    return f"{params['shared_dir'].rstrip('/')}/streamops-{output_dir.rpartition('/')[2]}-{run}"


def _submit(params: Mapping[str, Any], package_zip: str, files: Sequence[str]) -> list[str]:
    """Return spark-submit with its options, up to the name of the job."""
    argv = [params["spark_submit"], "--master", params["master"]]
    if params["deploy_mode"] == CLUSTER:
        argv += ["--deploy-mode", CLUSTER]
    if params["jars"]:
        argv += ["--jars", ",".join(params["jars"])]
    urls = {(params[group] or {}).get(TOKEN_URL) for group in ("client_properties", "source_client_properties")}
    own = _asking(_own_conf(params), sorted(filter(None, urls)))
    conf = {**_with_krb5(own, params), **params["conf"]}
    if files:
        # The option wins over the setting.
        argv += ["--files", ",".join([*files, *filter(None, [conf.pop("spark.files", "")])])]
    for name, value in sorted(conf.items()):
        argv += ["--conf", f"{name}={value}"]
    return [*argv, "--py-files", package_zip, f"{params['package']}/__main__.py", params["job"]]


def _own_conf(params: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings of Spark that follow from the size of a job and from where its driver runs."""
    if params["deploy_mode"] == CLUSTER:
        return _cluster_conf(params)
    records = params["arguments"].get("records")
    short = isinstance(records, int) and records <= SHORT and not params["audit_run_id"]
    # With a local master the driver does it all.
    if params["job"] == SMOKE and params["master"].startswith("local") and short:
        return {_JAVA_OPTIONS: _FIRST_COMPILER_ONLY}
    return {}


def _asking(conf: dict[str, str], urls: Sequence[str]) -> dict[str, str]:
    """Return settings with which driver and executors may ask these issuers for tokens, and nobody else."""
    names = (_JAVA_OPTIONS, _EXECUTOR_OPTIONS) if urls else ()
    return _with_argument(conf, names, f"{TOKEN_ADDRESSES}{','.join(urls)}")


def _with_krb5(conf: dict[str, str], params: Mapping[str, Any]) -> dict[str, str]:
    """Return settings with which a driver on this host reads the krb5.conf of the job.

    Other machines have their own one: Java reads it once, which may be before any file of the job has come.
    """
    names = (_JAVA_OPTIONS,) if params["krb5_file"] and params["deploy_mode"] != CLUSTER else ()
    return _with_argument(conf, names, f"{KRB5_OPTION}{params['krb5_file']}")


def _with_argument(conf: dict[str, str], names: Sequence[str], argument: str) -> dict[str, str]:
    """Return settings with an argument of Java behind those that these settings hold."""
    return {**conf, **{name: f"{conf.get(name, '')} {argument}".strip() for name in names}}


def _cluster_conf(params: Mapping[str, Any]) -> dict[str, str]:
    # The environment of spark-submit does not reach every kind of driver; a setting does.
    conf = {"spark.pyspark.python": params["worker_python"] or params["python"]}
    if params["master"] == "yarn":
        # A verdict is final: YARN would run the whole job again after one that is not pass.
        conf["spark.yarn.maxAppAttempts"] = "1"
    if params["master"].startswith("k8s:"):
        conf["spark.kubernetes.file.upload.path"] = params["shared_dir"]
    return conf


def summary(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a play needs of a result.json: verdict, checks without their examples, headline figures."""
    wanted = ("name", "status", "title", "expected", "actual", "difference", "unit", "suggests")
    figures = document.get("figures") or {}
    headline = {name: figures[name] for name in ("write", "read", "total", "phases", "proof") if name in figures}
    for name in ("latency", "live"):
        if name in figures:
            headline[name] = {key: value for key, value in figures[name].items() if key != "histogram"}
    return {
        **{name: document.get(name) for name in ("schema", "run_id", "mode", "verdict", "message", "seconds")},
        "findings": document.get("findings", []),
        "covered": document.get("covered", []),
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
        self._phases, self._advance = set[str](), Advance()
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
            return Step(GOING, text, facts, self._progress)
        verdict = (found.get("result") or {}).get("verdict")
        facts = {"exit_code": found["exit_code"], "verdict": verdict}
        return Step(DONE if verdict == PASS and found["exit_code"] == 0 else FAILED, f"verdict {verdict}", facts)

    @property
    def _progress(self) -> str:
        """Return what changes with each new phase, and while more than ever is done in one.

        Bytes of its log are no progress: a job that reaches no broker logs that again and again.
        """
        return f"{len(self._phases)} {self._advance}" if self._phases else ""

    def _standing(self, lines: Sequence[Mapping[str, Any]]) -> tuple[str, dict[str, Any]]:
        for line in lines:
            self._phases.add(line["phase"])
            self._advance.take(**{line["phase"]: line["done"]})
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
