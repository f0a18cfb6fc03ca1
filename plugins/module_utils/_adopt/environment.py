# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The environment that a process of Kafka was started with, and which file gave each variable.

/proc/PID/environ says what runs. The files (a unit, its drop-ins, files of the environment, a program of supervisord)
say what the next start will have. Where both are known, a difference is named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .masks import masked_value

#: What changes how Kafka, ZooKeeper, Connect or their JVM start: the variables of Kafka's scripts (kafka-run-class.sh,
#: kafka-server-start.sh) and of ZooKeeper's (zkEnv.sh), and those that every JVM reads.
_OF_KAFKA = re.compile(
    r"(KAFKA|CONFLUENT|CONNECT|ZOO|ZK|SCHEMA_REGISTRY)_?\w*|JMX_PORT|JMXPORT|JMX\w*|EXTRA_ARGS|LOG_DIR|"
    r"JAVA_HOME|JAVA_OPTS|CLASSPATH|JVMFLAGS|SERVER_JVMFLAGS|JDK_JAVA_OPTIONS|_JAVA_OPTIONS|JAVA_TOOL_OPTIONS|"
    r"DAEMON_MODE|DEBUG|INCLUDE_TEST_JARS|SCALA_\w+|GC_LOG_ENABLED|UPGRADE_KAFKA_STREAMS_TEST_VERSION|"
    r"LD_PRELOAD|LD_LIBRARY_PATH|MALLOC_ARENA_MAX|TZ|LANG|LC_ALL"
)
#: A question to EnvVarConfigProvider in a property (KIP-887): ${env:NAME} by whatever name the provider has.
_ASKED_FOR = re.compile(r"\$\{[^{}:\s]+:(?:[^{}:]*:)?([A-Za-z_]\w*)\}")
_NAME = re.compile(r"[A-Za-z_]\w*")
PROCESS = "process"


@dataclass(frozen=True)
class Layer:
    """Variables of one file, and where they stand."""

    origin: str
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Variable:
    """One variable. C(value) is not masked. differs -- the files give another value than the process has, or none."""

    value: str
    origin: str
    differs: bool


def of_file(text: str) -> dict[str, str]:
    """Read a file of the environment as systemd does (EnvironmentFile=, systemd.exec(5)), and simple shell files.

    Lines NAME=value; blanks around the value do not count; ' keeps all, " lets a backslash escape " \\ ` and $, a
    backslash at the end of a line joins the next one; # and ; begin comments. A word export before the name, which
    systemd does not take, is passed over, since scripts of init read such files too.
    """
    variables: dict[str, str] = {}
    at = 0
    while at < len(text):
        end = _line_end(text, at)
        line = text[at:end].lstrip()
        if not line or line[0] in "#;":
            at = end + 1
            continue
        name, separator, _rest = line.partition("=")
        name = name.strip()
        if name.startswith("export "):
            name = name[len("export ") :].strip()
        if not separator or not _NAME.fullmatch(name):
            at = end + 1
            continue
        variables[name], at = _value(text, text.index("=", at) + 1)
    return variables


def _line_end(text: str, at: int) -> int:
    ends = [end for end in (text.find("\n", at), text.find("\r", at)) if end >= 0]
    return min(ends, default=len(text))


def _value(text: str, at: int) -> tuple[str, int]:
    """Read one value from there on; returns it and where the next line begins."""
    out: list[str] = []
    quote = ""
    # Blanks at the end count where they were quoted or escaped.
    kept = 0
    while at < len(text):
        char = text[at]
        following = text[at + 1 : at + 2]
        if quote == "'" or (quote == '"' and char not in '"\\'):
            if char == quote:
                quote = ""
            else:
                out.append(char)
            kept = len(out)
        elif char == "\\" and following:
            at += 1
            if following != "\n":
                out.append(following if not quote or following in '"\\`$' else char + following)
                kept = len(out)
        elif quote:
            quote = ""
        elif char in "\"'" and (not out or kept == len(out)):
            quote = char
            kept = len(out)
        elif char in "\r\n":
            break
        elif out or char not in " \t":
            out.append(char)
            kept = kept if char in " \t" else len(out)
        at += 1
    return "".join(out[:kept]), at + 1


def joined(
    process: Mapping[str, str] | None, layers: Sequence[Layer], named: Sequence[str] = ()
) -> dict[str, Variable]:
    """Return the variables that matter, each with its origin.

    process -- of the running process, None where this user may not read it: then the files are all that is known.
    layers -- those of its service, the later counts. named -- further names that matter, such as those that properties
    ask for. A variable that the process has and no file gives has the origin C(process).
    """
    of_files: dict[str, tuple[str, str]] = {}
    for layer in layers:
        of_files.update({name: (value, layer.origin) for name, value in layer.variables.items()})
    names = {*(process or ()), *of_files}
    variables = {}
    for name in sorted(name for name in names if name in named or _OF_KAFKA.fullmatch(name)):
        value, origin = of_files.get(name, ("", PROCESS))
        if process is None:
            variables[name] = Variable(value, origin, differs=False)
        elif name not in process:
            variables[name] = Variable("", origin, differs=True)
        else:
            # A script that the service starts may set what no file gives.
            is_same = process[name] == value
            variables[name] = Variable(process[name], origin if is_same else PROCESS, name in of_files and not is_same)
    return variables


def asked_for(properties: Mapping[str, str]) -> list[str]:
    """Return the names of variables that properties may ask a provider for (${env:NAME})."""
    return sorted({name for value in properties.values() for name in _ASKED_FOR.findall(value)})


def shown(variables: Mapping[str, Variable]) -> list[dict[str, object]]:
    """Return variables as a module returns them: name, masked value, origin, differs."""
    return [
        {
            "name": name,
            "value": masked_value(name, variable.value),
            "origin": variable.origin,
            "differs": variable.differs,
        }
        for name, variable in variables.items()
    ]
