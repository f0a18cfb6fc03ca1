"""What holds for every test of every stage."""

from __future__ import annotations

import os

import yaml
from hypothesis import settings

from tests.support.cluster import JVM_OPTIONS

# How long an example takes says something about the machine, nothing about the code.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

# The parser in C, for every yaml.safe_load of tests and of what they call: ten times as fast as the one in Python.
yaml.SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# Nodes and Spark jobs of tests: the start of a broker takes 7.2 s of processor time in place of 10.3 s, a Spark job of
# 100,000 records 33 s in place of 52 s. Benchmarks keep both compilers, and so do the Spark jobs of molecule.
os.environ.setdefault("JDK_JAVA_OPTIONS", " ".join(JVM_OPTIONS))
