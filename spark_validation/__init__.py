"""Spark jobs that prove an Apache Kafka cluster: they write to it, read it back and judge what they find.

The package knows nothing of Ansible. One JSON file of arguments goes in; `result.json` and a `report.html` that is made
from that JSON alone come out. The process ends with 0 (pass), 1 (findings, or not judgeable) or 2 (could not run).
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

__version__ = "0.1.0"
