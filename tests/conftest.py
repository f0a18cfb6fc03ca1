"""What holds for every test of every stage."""

from __future__ import annotations

import os

from hypothesis import settings

# How long an example takes says something about the machine, nothing about the code.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

# Nodes and Spark jobs of tests live for minutes. Java's second compiler then costs more than it gives: without it the
# start of a broker takes 7.2 s of processor time in place of 10.3 s, a Spark job of 100,000 records 33 s in place of
# 52 s. Benchmarks and the scenarios of molecule keep both.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
