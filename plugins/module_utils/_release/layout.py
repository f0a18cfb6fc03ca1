# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a release directory holds and what it is called: pure, so that a name costs no download.

A release is the directory <product>-<version>-<digest12> (product kafka or zookeeper) with libs/ (the jars), bin/ (the
launcher and one symbolic link per tool), config/ (logging of the tools) and, last, MANIFEST.sha256 with one line per
file as sha256sum writes it.

The name follows from the composition: the text that lists what the release is made of, one line per file with its
SHA-256. Jars pinned by a lock file are all known beforehand, so the composition is the manifest itself. The files
in Apache's archive are not, so the archive stands there as one line with its SHA-512, beside our own files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .errors import InvalidInput
from .releases import MIRROR, SHELL, releases

MANIFEST = "MANIFEST.sha256"
LAUNCHER = "bin/launcher"
_TABLE = re.compile(r"<<'TABLE'\n(.*?)\nTABLE\n", re.S)
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_SHA512 = re.compile(r"[0-9a-f]{128}")
#: By tool what a release must be able to run, of those that not every release has.
TOOL_RUNS = {"connect-mirror-maker.sh": MIRROR, "kafka-metadata-shell.sh": SHELL}

# Warnings of the operator tools go to standard error, so that their output can be read by a program. Kafka 4 brings
# Log4j 2 and reads the first file, Kafka 3.9 brings reload4j and reads the second; the launcher chooses.
CONFIG_FILES = {
    "config/tools-log4j2.properties": """\
status = error
appender.stderr.type = Console
appender.stderr.name = STDERR
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = STDERR
""",
    "config/tools-log4j.properties": """\
log4j.rootLogger=WARN, stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.Target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=[%d] %p %m (%c)%n
""",
}
# ZooKeeper logs through Logback.
ZOOKEEPER_CONFIG_FILES = {
    "config/tools-logback.xml": """\
<configuration>
  <appender name="STDERR" class="ch.qos.logback.core.ConsoleAppender">
    <target>System.err</target>
    <encoder><pattern>[%d] %p %m \\(%c\\)%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="STDERR"/></root>
</configuration>
""",
}


@dataclass(frozen=True)
class Product:
    """What a release is of: its name, the tools besides those in the launcher's table, and our configuration files.

    C(jar_directory) is where Apache's archive keeps the jars. The jar that tells the version there is C(core) with the
    version behind; C(cores) are the names of such jars in other builds, * a number.
    """

    name: str
    title: str
    jar_directory: str
    core: str
    cores: str
    tools: tuple[str, ...] = ()
    config_files: Mapping[str, str] = field(default_factory=dict)


KAFKA = Product("kafka", "Kafka", "libs", "kafka_2.13", "kafka_2.*", ("kafka-run-class.sh",), CONFIG_FILES)
ZOOKEEPER = Product("zookeeper", "ZooKeeper", "lib", "zookeeper", "zookeeper", (), ZOOKEEPER_CONFIG_FILES)
PRODUCTS = {product.name: product for product in (KAFKA, ZOOKEEPER)}


def tool_names(launcher: str, version: str, product: Product = KAFKA) -> list[str]:
    """Read from the text of the launcher the names of the tools that a product of this version has."""
    table = _TABLE.search(launcher)
    if table is None:
        raise InvalidInput("Launcher", "it has no table of tools", "Take it from the collection again.")
    names = list(product.tools)
    for line in table.group(1).splitlines():
        name, since_4, before, *_since_4_4 = line.split()
        main = since_4 if int(version.split(".")[0]) >= 4 or before == "=" else before
        if main != "-":
            names.append(name)
    return sorted(names)


def runnable(tools: Iterable[str], version: str) -> list[str]:
    """Leave out the tools whose jar Maven does not have of a release of Kafka; one that we do not know has all."""
    known = [one.runs for one in releases() if one.version == version]
    return [tool for tool in tools if tool not in TOOL_RUNS or all(TOOL_RUNS[tool] in runs for runs in known)]


def manifest(files: Mapping[str, str]) -> str:
    """The text of MANIFEST.sha256 for files (path to SHA-256): sorted lines that sha256sum --check reads."""
    return "".join(f"{files[path]}  {path}\n" for path in sorted(files))


def parse_manifest(text: str) -> dict[str, str]:
    """Read a manifest back into path to SHA-256; ValueError where a line is not one."""
    files = {}
    for line in text.splitlines():
        digest, mark, path = line.partition("  ")
        if not mark or not re.fullmatch(r"[0-9a-f]{64}", digest):
            raise ValueError(f"not a line of a manifest: {line[:100]!r}")
        files[path] = digest
    return files


def own_files(launcher_sha256: str, product: Product = KAFKA) -> dict[str, str]:
    """The files that we add to the jars, as path to SHA-256."""
    files = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in product.config_files.items()}
    files[LAUNCHER] = launcher_sha256
    return files


def files_of_lock(digests: Mapping[str, str], launcher_sha256: str, product: Product = KAFKA) -> dict[str, str]:
    """All files of a release made of jars (file name to SHA-256), as path to SHA-256."""
    return dict({f"libs/{name}": digest for name, digest in digests.items()}, **own_files(launcher_sha256, product))


def name_from_lock(version: str, digests: Mapping[str, str], launcher_sha256: str, product: Product = KAFKA) -> str:
    """The name of a release made of the jars of a lock file."""
    return _name(version, manifest(files_of_lock(digests, launcher_sha256, product)), product)


def name_from_archive(version: str, sha512: str, launcher_sha256: str, product: Product = KAFKA) -> str:
    """The name of a release made of Apache's archive with this SHA-512."""
    archive = f"{normal_sha512(sha512)}  {product.name}-{version}.tgz\n"
    return _name(version, archive + manifest(own_files(launcher_sha256, product)), product)


def _name(version: str, composition: str, product: Product) -> str:
    if not _VERSION.fullmatch(version):
        raise InvalidInput(
            f"{product.name}_version", f'"{version}" is not three numbers', "Write all three, such as 1.2.3."
        )
    return f"{product.name}-{version}-{hashlib.sha256(composition.encode()).hexdigest()[:12]}"


def normal_sha512(text: str) -> str:
    """Reduce a SHA-512 to 128 lower-case digits; takes the form of Apache's .sha512 files too (NAME: AB12 ...)."""
    bare = re.sub(r"\s", "", text.rpartition(":")[2]).lower()
    if not _SHA512.fullmatch(bare):
        raise InvalidInput(
            "kafka_archive_sha512",
            f'"{text[:40]}" is not a SHA-512 of 128 hexadecimal digits',
            "Copy it from the .sha512 file that Apache publishes beside the archive.",
        )
    return bare
