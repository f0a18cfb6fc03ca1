"""The same answer whatever seed Python hashes by: programs in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


SEEDS = ("0", "1", "4294967295")


def said(program: str, seed: str, *arguments: str) -> str:
    """What a program of Python prints that runs under a seed."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "PYTHONHASHSEED": seed},
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout.strip()


def digests(module: str) -> set[str]:
    """What digest() of a test module, named by its file, says under three seeds."""
    program = (
        "import importlib.util, sys; sys.path[:0] = ['collections', '.'];"
        f"spec = importlib.util.spec_from_file_location('tested', {module!r});"
        "module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module); print(module.digest())"
    )
    return {said(program, seed) for seed in SEEDS}
