"""The command line: `JOB --args-file FILE` runs a job, `report RESULT.json` draws its report again.

`escort` stands before a spark-submit whose driver runs on another machine.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spark_validation.core.errors import BadArgumentsError, CannotRunError, root_cause
from spark_validation.core.result import Result, broken_off, save
from spark_validation.mirror import config as mirror_config
from spark_validation.proof import config as proof_config
from spark_validation.report import page
from spark_validation.smoke import config as smoke_config
from spark_validation.told import findings


def main(argv: list[str]) -> int:
    """Run one command; returns the exit code (0 pass, 1 findings or not judgeable, 2 could not run)."""
    parser = argparse.ArgumentParser(prog="spark_validation", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in JOBS:
        job = commands.add_parser(name, help=f"run job {name}")
        job.add_argument("--args-file", required=True, type=Path, help="JSON file of arguments (docs)")
        job.add_argument("--bring-to", default="", help="URI of the directory where `escort` waits for the files")
    drawing = commands.add_parser("report", help="draw report.html again from a result.json")
    drawing.add_argument("result", type=Path)
    drawing.add_argument("--output", type=Path, help="file to write (default: report.html beside the result)")
    guard = commands.add_parser("escort", help="run spark-submit in cluster mode and fetch what its driver leaves")
    guard.add_argument("--shared-dir", required=True, help="URI of a directory for this run, which the driver reaches")
    guard.add_argument("--args-file", required=True, type=Path, help="arguments of the job; may be a pipe")
    guard.add_argument("--output", required=True, type=Path, help="directory for the files of the job")
    guard.add_argument("submit", nargs="+", help="the command, behind --")
    chosen = parser.parse_args(argv)
    if chosen.command == "report":
        return _draw(chosen.result, chosen.output or chosen.result.with_name("report.html"))
    if chosen.command == "escort":
        from spark_validation.escort import escort

        return escort(chosen.submit, chosen.shared_dir, chosen.args_file, chosen.output)
    return run_job(chosen.command, chosen.args_file, chosen.bring_to)


def run_job(name: str, args_file: Path, bring_to: str = "") -> int:
    """Run job `name`. A result.json always says how it ended; it lies beside the arguments when those are unusable."""
    result = Result(job=name, mode="", run_id="", started_ms=_now())
    output = args_file.parent
    arguments: Any = None
    with _noted(result):
        arguments = JOBS[name].parse(_decoded(args_file))
        result.mode, result.run_id, result.settings = arguments.mode, arguments.run_id, arguments.public()
        output = Path(arguments.output_dir)
        output.mkdir(parents=True, exist_ok=True)
    with _brought(output, bring_to):
        with _noted(result):
            if not result.checks:
                JOBS[name].run(arguments, result)
        result.finished_ms = _now()
        result.findings = findings(result.checks, str(result.ledger.get("topic") or result.settings.get("topic", "")))
        result.covered = result.covered or ["nothing was compared"]
        document = result.to_dict()
        save(document, output / "result.json")
        page.write(document, output / "report.html")
    print(_summary(document, output), flush=True)
    return int(document["exit_code"])


@contextmanager
def _noted(result: Result) -> Iterator[None]:
    """Turn what ends the body before its time into a check of the result."""
    try:
        yield
    except CannotRunError as error:
        _note(result, error.what, error.why)
    except Exception as error:
        _note(result, "job", root_cause(error))


def _brought(output: Path, uri: str) -> AbstractContextManager[None]:
    if not uri:
        return nullcontext()
    from spark_validation.bring import brought

    return brought(output, uri)


@contextmanager
def _running(
    arguments: smoke_config.Arguments | mirror_config.Arguments | proof_config.Arguments, result: Result
) -> Iterator[tuple[Any, Any]]:
    """Session and progress of a job, closed at its end."""
    # Spark is imported late: bad arguments and `report` need neither Java nor a session.
    from spark_validation.core.progress import Progress
    from spark_validation.core.session import open_session

    progress = Progress(Path(arguments.output_dir) / "progress.jsonl")
    try:
        with progress.phase("start", "start Spark"):
            session = open_session(f"{result.job} {arguments.run_id}")
        try:
            yield session, progress
        finally:
            session.stop()
    finally:
        result.figures["phases"] = progress.phases
        progress.close()


def _smoke(arguments: smoke_config.Arguments, result: Result) -> None:
    with _running(arguments, result) as (session, progress):
        from spark_validation.smoke.job import Smoke

        Smoke(session, arguments, progress, result).run()


def _mirror_audit(arguments: mirror_config.Arguments, result: Result) -> None:
    with _running(arguments, result) as (session, progress):
        from spark_validation.mirror.job import MirrorAudit

        MirrorAudit(session, arguments, progress, result).run()


def _proof(arguments: proof_config.Arguments, result: Result) -> None:
    with _running(arguments, result) as (session, progress):
        from spark_validation.proof.job import ProofReader

        ProofReader(session, arguments, progress, result).run()


@dataclass(frozen=True)
class Job:
    """A job: how its arguments are read, and what runs with them."""

    parse: Callable[[Any], Any]
    run: Callable[[Any, Result], None]


JOBS: dict[str, Job] = {
    "smoke": Job(smoke_config.parse, _smoke),
    "mirror_audit": Job(mirror_config.parse, _mirror_audit),
    "proof": Job(proof_config.parse, _proof),
}


def _decoded(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadArgumentsError([f"{path}: {error}"]) from error


def _draw(source: Path, target: Path) -> int:
    try:
        page.write(json.loads(source.read_text(encoding="utf-8")), target)
    except (OSError, ValueError, KeyError) as error:
        print(f"cannot draw {source}: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    print(target)
    return 0


def _note(result: Result, what: str, why: str) -> None:
    result.message = f"{what}: {why}"
    result.checks.append(broken_off(result.checks, what, why))


def _summary(document: dict[str, Any], output: Path) -> str:
    lines = [f"verdict {document['verdict']} (run {document['run_id']}, {document['seconds']} s)"]
    lines += [f"  {sentence}" for sentence in (*document["findings"], *document["covered"])]
    return "\n".join([*lines, f"  {output / 'report.html'}"])


def _now() -> int:
    return int(time.time() * 1000)
