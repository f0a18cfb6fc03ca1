# SPDX-License-Identifier: GPL-3.0-or-later
"""tools/add_release leaves a root out where Maven does not have it, and for no other failure."""

from __future__ import annotations

import runpy
from typing import Any

import pytest

from tests.support.cluster import ROOT

TOOL: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "add_release"))
SHELL = "org.apache.kafka:kafka-shell:jar:4.4.0"


@pytest.mark.parametrize(
    "said",
    [
        f"[ERROR] Could not find artifact {SHELL} in central (https://repo.example.com)",
        f"[ERROR] {SHELL} was not found in https://repo.example.com during a previous attempt. This failure was cached",
    ],
)
def test_an_artifact_that_maven_does_not_have_is_missing(said: str) -> None:
    assert TOOL["names_missing"](f"make_lock: Maven: mvn ended with exit code 1 and said:\n{said}\n")


@pytest.mark.parametrize(
    "said",
    [
        "Maven: the command mvn is not there",
        "Maven: mvn did not end within 600 s and was killed",
        f"[ERROR] Could not transfer artifact {SHELL} from/to central (https://repo.example.com): Connection refused",
        f"[ERROR] {SHELL} failed to transfer from https://repo.example.com during a previous attempt",
        f"[ERROR] Could not find artifact g:a:jar:1 in one\n[ERROR] Could not transfer artifact {SHELL} from/to other",
        "[ERROR] The JAVA_HOME environment variable is not defined correctly",
    ],
)
def test_any_other_failure_says_nothing_of_an_artifact(said: str) -> None:
    assert not TOOL["names_missing"](f"make_lock: {said}")
