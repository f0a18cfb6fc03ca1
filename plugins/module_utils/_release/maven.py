# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Fetching named jars with Maven: the POM and the command, and the run of it through a given runner.

The goal dependency:copy takes each artifact by itself, so nothing transitive can slip in. Resolving Spark's jars with
their dependencies asks a repository that a parent POM names and that many networks do not reach; with this goal and an
empty local repository only the repositories of Maven's own settings were asked.
"""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from .._core import commands
from .._core.commands import CommandTimeoutError
from .errors import MavenFailed
from .lock import Artifact

#: Longest time for all jars of a release; Maven itself gives up after minutes on a line that is silent.
SECONDS = 7200.0
PLUGIN_VERSION = "3.6.1"
PLUGIN = f"org.apache.maven.plugins:maven-dependency-plugin:{PLUGIN_VERSION}"

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    # Runs a command, returns (exit code, standard output, standard error); FileNotFoundError where it is missing.
    Runner = Callable[[Sequence[str]], tuple[int, str, str]]

_POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>streamops</groupId><artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>
  {body}
</project>
"""
_COPY = """\
<build><plugins><plugin>
    <groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId>
    <version>{version}</version>
    <configuration><outputDirectory>{target}</outputDirectory><artifactItems>
{items}
    </artifactItems></configuration>
  </plugin></plugins></build>"""


def _element(artifact: Artifact) -> str:
    classifier = f"<classifier>{artifact.classifier}</classifier>" if artifact.classifier else ""
    return (
        f"<groupId>{artifact.group}</groupId><artifactId>{artifact.artifact}</artifactId>"
        f"<version>{artifact.version}</version>{classifier}"
    )


def copy_pom(artifacts: Iterable[Artifact], target: str) -> str:
    """The POM whose dependency:copy puts exactly these jars, named as their coordinates say, into C(target)."""
    items = "\n".join(
        f"      <artifactItem>{_element(artifact)}<destFileName>{artifact.file}</destFileName></artifactItem>"
        for artifact in artifacts
    )
    return _POM.format(body=_COPY.format(version=PLUGIN_VERSION, target=escape(target), items=items))


def dependencies_pom(roots: Iterable[Artifact]) -> str:
    """The POM that depends on the roots, for resolving what they bring along."""
    items = "\n    ".join(f"<dependency>{_element(root)}</dependency>" for root in roots)
    return _POM.format(body=f"<dependencies>\n    {items}\n  </dependencies>")


def command(executable: str, pom: str, settings: str, goal: str, options: Sequence[str] = ()) -> list[str]:
    """The Maven command: batch mode, no transfer lines, strict about the checksums that the repository publishes."""
    chosen = ["--settings", settings] if settings else []
    return [executable, "-B", "-ntp", "-C", *chosen, "-f", pom, f"{PLUGIN}:{goal}", *options]


def run(argv: Sequence[str], runner: Runner) -> None:
    """Run Maven; MavenFailed says how to install it, or shows its own first error lines."""
    try:
        code, out, err = runner(argv)
    except FileNotFoundError as error:
        raise MavenFailed(
            "Maven",
            f"the command {argv[0]} is not there",
            "Install it (Debian, Ubuntu: apt-get install maven; Fedora, RHEL: dnf install maven), or set "
            "kafka_install_source to archive, which needs no Maven.",
        ) from error
    except CommandTimeoutError as error:
        raise MavenFailed(
            "Maven",
            f"{argv[0]} did not end within {SECONDS:g} s and was killed",
            "Check that its repository answers; name a mirror in a settings file by kafka_maven_settings. What it had "
            "fetched stays in its local repository, so the next run goes on from there.",
        ) from error
    if code != 0:
        said = "\n".join(_errors_of(out) or (out + err).splitlines()[-6:])
        raise MavenFailed(
            "Maven",
            f"{argv[0]} ended with exit code {code} and said:\n{said}\n",
            "Check that its repository can be reached; name a mirror in a settings file by kafka_maven_settings.",
            exit_code=code,
        )


def _errors_of(output: str) -> list[str]:
    """Maven's own error lines without the advice that it prints under every one of them."""
    lines = [line[:1000] for line in output.splitlines() if line.startswith("[ERROR] ")]
    return [line for line in lines if not re.match(r"\[ERROR\] (To see|Re-run|For more|\[Help|$)", line)][:6]


def fetch(
    artifacts: Sequence[Artifact], directory: str, runner: Runner, executable: str = "mvn", settings: str = ""
) -> None:
    """Put the jars of these artifacts into directory/libs. The caller checks them: Maven's word is not enough."""
    pom = os.path.join(directory, "pom.xml")
    with open(pom, "w", encoding="utf-8") as file:
        file.write(copy_pom(artifacts, os.path.join(directory, "libs")))
    run(command(executable, pom, settings, "copy"), runner)


def bounded(argv: Sequence[str]) -> tuple[int, str, str]:
    """Run Maven in bounded time; FileNotFoundError when it is not installed."""
    if shutil.which(argv[0]) is None:
        raise FileNotFoundError(argv[0])
    return commands.run(argv, SECONDS)
