# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The properties that a process runs with, each with the line that gave it, and the files and places that they name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass

from .._core.properties import is_secret, numbered
from .._node.installed import KAFKA, ZOOKEEPER

#: What a file begins with that keeps keys: of Java (JKS, and JCEKS beside it), of PKCS 12 (a DER sequence), of PEM.
_JKS = (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce")
_DER = (b"\x30\x80", b"\x30\x81", b"\x30\x82", b"\x30\x83", b"\x30\x84")
_PEM = b"-----BEGIN "
#: Properties that name a store: of Kafka (ssl.keystore.location, with prefixes of listeners and clusters), of
#: ZooKeeper (ssl.quorum.trustStore.location) and of every JVM (javax.net.ssl.trustStore).
_STORE = re.compile(r"(^|\.)ssl\.(\w+\.)?(key|trust)-?store\.location$|(^|\.)javax\.net\.ssl\.(key|trust)Store$", re.I)
#: System properties that name files of logins.
_LOGIN_FILES = ("java.security.auth.login.config", "java.security.krb5.conf")
#: What a node without these keeps its data in (KafkaConfig LogDirs, of Kafka's log.dir).
_KAFKA_LOG_DIR = "/tmp/kafka-logs"  # Kafka's own default, which is looked at and not written.


@dataclass(frozen=True)
class Setting:
    """One property. C(value) is not masked. origin -- PATH:LINE of a file, or --override of the command line."""

    value: str
    origin: str


def settings(path: str, text: str, overrides: Mapping[str, str]) -> dict[str, Setting]:
    """Return the properties by name: those of the file, and before them the overrides of the command line.

    Of a name that is there twice the last line counts. Raises PropertiesError on what Java refuses.
    """
    from_file = {key: Setting(value, f"{path}:{number}") for number, key, value in numbered(text)}
    return {**from_file, **{key: Setting(value, "--override") for key, value in overrides.items()}}


def values(properties: Mapping[str, Setting]) -> dict[str, str]:
    """Return the bare values by name."""
    return {name: setting.value for name, setting in properties.items()}


def origins(properties: Mapping[str, Setting]) -> dict[str, str]:
    """Return where each property stands by name."""
    return {name: setting.origin for name, setting in properties.items()}


def secret_names(properties: Mapping[str, str]) -> list[str]:
    """Return the names of properties whose values are secrets, also those that only refer to one."""
    return sorted(name for name in properties if is_secret(name))


def data_dirs(product: str, properties: Mapping[str, str], directory: str) -> tuple[list[str], str]:
    """Return the directories of data, and that of the metadata log of KRaft ("" without one), as absolute paths.

    directory -- where the process works, which relative paths begin at; "" where that is not known, and they stay.
    """
    if product == KAFKA:
        text = properties.get("log.dirs") or properties.get("log.dir") or _KAFKA_LOG_DIR
        has_metadata = "process.roles" in properties
        metadata = properties.get("metadata.log.dir", "").strip() if has_metadata else ""
        paths = [path.strip() for path in text.split(",") if path.strip()]
        return [absolute(path, directory) for path in paths], absolute(metadata, directory) if metadata else ""
    if product == ZOOKEEPER:
        paths = [properties.get("dataDir", "").strip(), properties.get("dataLogDir", "").strip()]
        return list(dict.fromkeys(absolute(path, directory) for path in paths if path)), ""
    return [], ""


def store_files(properties: Mapping[str, str], system: Mapping[str, str], directory: str) -> list[str]:
    """Return the key and trust stores that properties, and system properties of the JVM, name; each path once.

    A location that is a reference to another place (${file:...}) is none of a file.
    """
    given = [value.strip() for name, value in [*properties.items(), *system.items()] if _STORE.search(name)]
    return list(dict.fromkeys(absolute(path, directory) for path in given if path and "${" not in path))


def login_files(system: Mapping[str, str], directory: str) -> list[str]:
    """Return the files of logins that the JVM was given, of JAAS and Kerberos."""
    return [absolute(system[name], directory) for name in _LOGIN_FILES if system.get(name)]


def store_kind(head: bytes) -> str | None:
    """Tell by its first bytes what kind of store a file is: JKS, PKCS12 or PEM; None where it is none of them.

    A property ssl.keystore.type may be wrong: Java 9 and later open both kinds by either name (JEP 229).
    """
    if head.startswith(_JKS):
        return "JKS"
    if head.startswith(_DER):
        return "PKCS12"
    return "PEM" if _PEM in head else None


def absolute(path: str, directory: str) -> str:
    """Return a path from the directory that a process works in, without . and .. in it."""
    if not posixpath.isabs(path) and not directory:
        return path
    return posixpath.normpath(posixpath.join(directory, path))
