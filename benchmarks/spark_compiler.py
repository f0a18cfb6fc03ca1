"""What Java's second compiler costs and gives a smoke job: whole jobs with and without it, in turns.

Prints processor and wall seconds of each whole `spark-submit` with its children, a row for each size. The topic must
exist, and gets the records.

    python benchmarks/spark_compiler.py --bootstrap 127.0.0.1:19100 --topic _streamops_smoke --jars /path/a.jar,/b.jar
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Options of the driver's Java, which with a local master runs everything. Without the second compiler Java 17 shrinks
#: the cache of compiled code from 240 MB to 48 MB, which a Spark driver fills.
OPTIONS = {"both": "", "first only": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"}


def run(chosen: argparse.Namespace, records: int, options: str) -> tuple[float, float]:
    """Processor and wall seconds of one whole job."""
    with tempfile.TemporaryDirectory(prefix="spark-compiler") as folder:
        arguments = Path(folder) / "args.json"
        given = {"run_id": f"bench-{time.time_ns()}", "bootstrap_servers": chosen.bootstrap.split(",")}
        topic = {"topic": chosen.topic, "consent_topic": chosen.topic, "records": records}
        arguments.write_text(json.dumps({**given, **topic, "output_dir": folder}))
        submit = str(Path(sys.executable).with_name("spark-submit"))
        command = [submit, "--master", chosen.master, "--jars", chosen.jars]
        command += ["--driver-java-options", options] if options else []
        command += [str(ROOT / "spark_validation/__main__.py"), "smoke", "--args-file", str(arguments)]
        environment = {name: value for name, value in os.environ.items() if name != "JDK_JAVA_OPTIONS"}
        environment |= {"PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        before, begin = os.times(), time.monotonic()
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        wall, after = time.monotonic() - begin, os.times()
        if done.returncode != 0:
            raise SystemExit(f"the job ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return after.children_user + after.children_system - before.children_user - before.children_system, wall


def shown(seconds: tuple[float, ...]) -> str:
    """The median and what it is the median of."""
    return f"{statistics.median(seconds):.1f} ({', '.join(f'{one:.1f}' for one in seconds)})"


def main() -> None:
    """Measure and print rows of a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bootstrap", required=True, help="host:port,host:port")
    parser.add_argument("--jars", required=True, help="the connector's four jars, joined by commas")
    parser.add_argument("--topic", default="_streamops_smoke")
    parser.add_argument("--records", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--master", default="local[2]")
    chosen = parser.parse_args()
    for records in chosen.records:
        took: dict[str, list[tuple[float, float]]] = {name: [] for name in OPTIONS}
        for _ in range(chosen.rounds):
            for name, options in OPTIONS.items():
                took[name].append(run(chosen, records, options))
        for name, runs in took.items():
            figures = map(shown, zip(*runs, strict=True))
            print(f"| {records:,} | {name} | {' | '.join(figures)} |", flush=True)
    print(f"load at the end: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
