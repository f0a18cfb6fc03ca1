"""How fast is the audit? Records per second of the judging read, divided by those of a plain Spark count.

Both read the same range of a topic in the same session, in turns, so that load and caches strike both alike; the
ratio of the medians is the figure. Aim: at least 0.8. The topic must exist, and gets the records.

    python benchmarks/audit.py --bootstrap 127.0.0.1:19100 --topic _streamops_smoke --jars /path/a.jar,/path/b.jar
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pyspark.sql import SparkSession

from benchmarks.flight import cpu_times
from spark_validation.core.read import reader
from spark_validation.core.session import client_properties, cores, jvm, open_session
from spark_validation.smoke import audit, record
from spark_validation.smoke.config import Arguments, parse
from spark_validation.smoke.geometry import Geometry, writers_for
from spark_validation.smoke.observed import OK
from spark_validation.smoke.topic import Ranges, Topic
from spark_validation.smoke.write import write_records


def timed(work: Callable[[], object]) -> float:
    """Seconds that a call takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def cpu_seconds() -> float:
    """Processor time that Spark's Java process has used, which other load of the machine changes little."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    ticks = os.sysconf("SC_CLK_TCK")
    return sum(cpu_times(Path(f"/proc/{child}/stat").read_text(), ticks)[1] for child in children)


def written(session: SparkSession, arguments: Arguments) -> tuple[Ranges, float]:
    """Write the records; returns their offsets and the seconds it took."""
    with Topic(jvm(session), arguments.topic, client_properties(arguments)) as topic:
        partitions = len(topic.partitions())
        shape = Geometry(arguments.records, partitions, writers_for(arguments.records, cores(session)))
        starts = topic.ends(partitions)
        seconds = timed(lambda: write_records(session, arguments, shape))
        ends = topic.ends(partitions)
    return {index: (start, ends[index]) for index, start in starts.items()}, seconds


def measured(session: SparkSession, arguments: Arguments, rounds: int) -> dict[str, object]:
    """The figures of one benchmark."""
    ranges, writing = written(session, arguments)
    read = reader(session, arguments)

    def count() -> None:
        assert read({arguments.topic: ranges}).count() == arguments.records

    def judge() -> None:
        rows = read({arguments.topic: ranges})
        seen = audit.observe(record.classify(rows, arguments.run_id, arguments.topic), 0, 10**9)
        assert seen.kinds() == {OK: arguments.records}

    count()
    judge()
    counts, audits, cpu = [], [], []
    for _ in range(rounds):
        before = cpu_seconds()
        counts.append(timed(count))
        between = cpu_seconds()
        audits.append(timed(judge))
        cpu.append((between - before) / (cpu_seconds() - between))
    per_second = {
        name: round(arguments.records / statistics.median(took))
        for name, took in (("count", counts), ("audit", audits))
    }
    return {
        "records": arguments.records,
        "rounds": rounds,
        "master": session.sparkContext.master,
        "write_records_per_second": round(arguments.records / writing),
        "count_records_per_second": per_second["count"],
        "audit_records_per_second": per_second["audit"],
        "ratio": round(per_second["audit"] / per_second["count"], 2),
        "ratio_by_round": [round(plain / full, 2) for plain, full in zip(counts, audits, strict=True)],
        "ratio_of_processor_time": round(statistics.median(cpu), 2),
        "load_at_end": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    """Run the benchmark and print its figures as JSON and as a row of a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bootstrap", required=True, help="host:port,host:port")
    parser.add_argument("--jars", required=True, help="the connector's four jars, joined by commas")
    parser.add_argument("--topic", default="_streamops_smoke")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--master", default="local[2]")
    chosen = parser.parse_args()
    given = {"run_id": f"bench-{os.getpid()}", "bootstrap_servers": chosen.bootstrap.split(","), "output_dir": "."}
    arguments = parse({**given, "topic": chosen.topic, "consent_topic": chosen.topic, "records": chosen.records})
    os.environ.update(PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable)
    os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[1])
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--master {chosen.master} --jars {chosen.jars} pyspark-shell"
    session = open_session("benchmark")
    try:
        figures = measured(session, arguments, chosen.rounds)
    finally:
        session.stop()
    print(json.dumps(figures, indent=1))
    rates = ("records", "count_records_per_second", "audit_records_per_second")
    names = (*rates, "ratio", "ratio_of_processor_time", "load_at_end")
    print("| " + " | ".join(f"{figures[name]:,}" for name in names) + " |")


if __name__ == "__main__":
    main()
