"""Splits the long forms of all tests into parts that each end within an hour: `./test --full --part K/N`.

A unit of work is what runs as one: a stage (lint, unit, spark, publish), a scenario of molecule, or the files of
tests/integration that share a cluster (tests/support/schedule.py). tests/minutes.yml says how long each took; one that
has no entry yet counts as DEFAULT. Every unit is in exactly one part, whatever N is.

    python -m tests.support.parts 2/4        the stages of part 2 of 4, a line each, with what they run
    python -m tests.support.parts noted      what the slowest plain forms took since the last `learn`, a line each
    python -m tests.support.parts learn      the tables with what integration tests took, noted while they ran

What a run of plain forms took (`-m 'not full'`) goes to tests/minutes_plain.yml, by which plain runs have their order.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from tests.support.schedule import DEFAULT, PLAIN_TABLE, TABLE, minutes_table, together

ROOT = Path(__file__).resolve().parents[2]
HEAD = "---\n# Minutes of each unit of work in its {form} form, of one process; see tests/support/parts.py.\n"
#: What integration tests note while they run, by whether they are plain forms.
NOTED = {False: ROOT / ".cache" / "minutes.txt", True: ROOT / ".cache" / "minutes_plain.txt"}
#: Stages in the order in which ./test runs them; those with a colon in a unit's name have what follows as argument.
STAGES = ("lint", "publish", "unit", "spark", "integration", "molecule")
#: Long forms of integration tests run two processes at a time.
AT_ONCE = {"integration": 2}


def units() -> list[str]:
    """All units of work of this repository: `lint`, `integration:<files of one cluster>`, `molecule:<scenario>`."""
    tests = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "integration").rglob("test_*.py"))
    scenarios = sorted(path.parent.name for path in (ROOT / "molecule").glob("*/molecule.yml"))
    return [
        *("lint", "publish", "unit", "spark"),
        *sorted({f"integration:{together(test)}" for test in tests}),
        *(f"molecule:{scenario}" for scenario in scenarios),
    ]


def minutes(unit: str, measured: Mapping[str, float]) -> float:
    """How long a unit holds the machine."""
    return measured.get(unit, DEFAULT) / AT_ONCE.get(unit.partition(":")[0], 1)


def split(work: Iterable[str], measured: Mapping[str, float], count: int) -> list[list[str]]:
    """Parts of about equal length: the longest unit first, each into the part that is the shortest so far.

    (Graham, Bounds on multiprocessing timing anomalies, 1969: at most 4/3 of the best possible.)
    """
    parts: list[list[str]] = [[] for _ in range(count)]
    total = [0.0] * count
    for unit in sorted(work, key=lambda one: (-minutes(one, measured), one)):
        shortest = total.index(min(total))
        parts[shortest].append(unit)
        total[shortest] += minutes(unit, measured)
    return parts


def lines(part: Iterable[str]) -> list[str]:
    """The stages of a part, a line each: the stage, then what of it."""
    found = []
    chosen = list(part)
    for stage in STAGES:
        if stage in chosen:
            found.append(stage)
        arguments = sorted(unit.partition(":")[2] for unit in chosen if unit.startswith(f"{stage}:"))
        if arguments:
            found.append(" ".join([stage, *arguments]))
    return found


def read(text: str) -> tuple[int, int]:
    """K and N of `K/N`; ValueError when it is none or K is not one of 1 to N."""
    part, slash, count = text.partition("/")
    if not (slash and part.isdecimal() and count.isdecimal() and 1 <= int(part) <= int(count)):
        raise ValueError(f"--part wants K/N with K from 1 to N, for example 2/4; found: {text!r}")
    return int(part), int(count)


def files(shared: str) -> list[str]:
    """The files of tests/integration that run together under this name."""
    tests = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "integration").rglob("test_*.py"))
    return [test for test in tests if together(test) == shared]


def note_minutes(test: str, seconds: float, plain: bool) -> None:
    """Notes what a step of an integration test took, for `learn`."""
    NOTED[plain].parent.mkdir(exist_ok=True)
    with NOTED[plain].open("a") as notes:
        notes.write(f"integration:{together(test.partition('::')[0])} {seconds:.1f} {test}\n")


def learned(notes: Iterable[str], measured: Mapping[str, float]) -> dict[str, float]:
    """What was measured before, with the minutes of what is noted in its place, longest first."""
    found: dict[str, float] = {}
    for unit, seconds, *_test in (line.split(" ", 2) for line in notes):
        found[unit] = found.get(unit, 0) + float(seconds) / 60
    every = {**measured, **{unit: round(took, 1) for unit, took in found.items()}}
    return dict(sorted(every.items(), key=lambda one: (-one[1], one[0])))


def slowest(notes: Iterable[str], count: int = 15) -> list[str]:
    """The files that took longest, a row of a table each: `| file | minutes of one process |`."""
    took: dict[str, float] = {}
    for _unit, seconds, test in (line.split(" ", 2) for line in notes):
        name = test.partition("::")[0].removeprefix("tests/integration/")
        took[name] = took.get(name, 0) + float(seconds)
    order = sorted(took.items(), key=lambda row: (-row[1], row[0]))
    return [f"| {name} | {round(seconds) // 60}:{round(seconds) % 60:02} |" for name, seconds in order[:count]]


def main(argument: str) -> None:
    """Prints what ./test runs for a part or what took longest, or learns the minutes of units."""
    if argument == "noted":
        notes = NOTED[True].read_text().splitlines() if NOTED[True].exists() else []
        print("\n".join(slowest(notes)))
        return
    if argument == "learn":
        for plain, notes in NOTED.items():
            if notes.exists():
                table = learned(notes.read_text().splitlines(), minutes_table(plain))
                head = HEAD.format(form="plain" if plain else "long")
                (PLAIN_TABLE if plain else TABLE).write_text(head + yaml.safe_dump(table, sort_keys=False))
                notes.unlink()
        return
    part, count = read(argument)
    for line in lines(split(units(), minutes_table(), count)[part - 1]):
        stage, *arguments = line.split()
        if stage == "integration":
            arguments = [file for shared in arguments for file in files(shared)]
        print(stage, *arguments)


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except ValueError as error:
        sys.exit(f"test: {error}")
