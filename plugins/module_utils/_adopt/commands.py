# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Command lines of JVMs, read: which product runs, with what, and who chose it, a person or Kafka's own scripts.

What the scripts add is in bin/kafka-run-class.sh and bin/kafka-server-start.sh of Kafka 2.0 to 4.3, which put a command
together in this order: java, heap, performance, log of the garbage collector, JMX, logging, class path, KAFKA_OPTS; and
in bin/zkServer.sh of ZooKeeper 3.4 to 3.9.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .._node.adopted import overrides
from .._node.installed import CONNECT, KAFKA, MIRROR, ZOOKEEPER
from .masks import masked_word

#: By main class the product. SupportedKafka is what Confluent's packages start up to 6.x, kafka.tools.MirrorMaker the
#: first MirrorMaker, which Kafka 4.0 took away (KIP-720).
MAIN_CLASSES = {
    "kafka.Kafka": KAFKA,
    "io.confluent.support.metrics.SupportedKafka": KAFKA,
    "org.apache.zookeeper.server.quorum.QuorumPeerMain": ZOOKEEPER,
    "org.apache.zookeeper.server.ZooKeeperServerMain": ZOOKEEPER,
    "org.apache.kafka.connect.mirror.MirrorMaker": MIRROR,
    "kafka.tools.MirrorMaker": MIRROR,
    "org.apache.kafka.connect.cli.ConnectDistributed": CONNECT,
    "org.apache.kafka.connect.cli.ConnectStandalone": CONNECT,
}
#: Options of the java launcher whose value is the next word (IsWhiteSpaceOption and IsLauncherOption of its java.c).
_CLASS_PATH = ("-cp", "-classpath", "--class-path")
_WITH_VALUE = (
    *_CLASS_PATH,
    *("-p", "--module-path", "--upgrade-module-path", "--limit-modules", "--add-modules", "--patch-module"),
    *("--add-exports", "--add-opens", "--add-reads", "--enable-native-access", "--source"),
)
#: What kafka-run-class.sh gives by itself, whatever the environment says: where Kafka's own logs go, JMX without a
#: port, the log of the garbage collector, and, without KAFKA_JVM_PERFORMANCE_OPTS, these flags.
_OF_SCRIPTS = (
    (
        "logging",
        re.compile(r"-D(kafka\.logs\.dir|log4j2?\.configuration(File)?|zookeeper\.(log\.(dir|file)|root\.logger))="),
    ),
    (
        "jmx",
        re.compile(
            r"-Dcom\.sun\.management\.jmxremote(=true|\.(authenticate|ssl|local\.only)=false|\.(rmi\.)?port=\d+)?$"
        ),
    ),
    (
        "gc_log",
        re.compile(
            r"-Xlog:gc\*:file=|-Xloggc:|-verbose:gc$|-XX:(\+PrintGC(Details|DateStamps|TimeStamps)|\+UseGCLogFileRotation"
            r"|NumberOfGCLogFiles=10|GCLogFileSize=100M)$"
        ),
    ),
    (
        "performance",
        re.compile(
            r"-server$|-XX:(\+UseG1GC|MaxGCPauseMillis=20|InitiatingHeapOccupancyPercent=35"
            r"|\+ExplicitGCInvokesConcurrent|\+DisableExplicitGC|MaxInlineLevel=15"
            r"|\+HeapDumpOnOutOfMemoryError|OnOutOfMemoryError=kill -9 %p)$|-Djava\.awt\.headless=true$"
        ),
    ),
    ("heap", re.compile(r"-X(mx|ms)(1G|256M|512M|2G|1000m)$")),
)
_LOGGING = re.compile(r"-D(?:log4j2?\.configuration(?:File)?|logback\.configurationFile)=(?:file:(?://)?)?(.*)", re.S)
_LOGS_DIR = re.compile(r"-D(?:kafka\.logs\.dir|zookeeper\.log\.dir)=(.*)", re.S)
_JMX_PORT = re.compile(r"-Dcom\.sun\.management\.jmxremote\.port=(\d+)")


@dataclass(frozen=True)
class Command:
    """A JVM's command line, taken apart. Nothing in it is masked: it may hold passwords.

    jvm -- its arguments but the class path, in order. overrides -- of Kafka, --override name=value. arguments -- what
    stands behind the main class. argument_files -- @files of java that were not expanded.
    """

    product: str
    java: str
    main_class: str
    jvm: tuple[str, ...]
    class_path: tuple[str, ...]
    properties_file: str
    overrides: Mapping[str, str]
    arguments: tuple[str, ...]
    argument_files: tuple[str, ...]

    @property
    def logs_dir(self) -> str:
        """Where Kafka's own logs go (-Dkafka.logs.dir); "" where it does not say."""
        return _last(_LOGS_DIR, self.jvm)

    @property
    def log_configuration(self) -> str:
        """The file that says what is logged and where; "" where it does not say."""
        return _last(_LOGGING, self.jvm)

    @property
    def jmx_port(self) -> int | None:
        """The port of JMX, None without one."""
        port = _last(_JMX_PORT, self.jvm)
        return int(port) if port else None

    @property
    def system_properties(self) -> dict[str, str]:
        """The -Dname=value of the JVM; of a name that is there twice the last counts."""
        pairs = (word[2:].partition("=") for word in self.jvm if word.startswith("-D"))
        return {name: value for name, _separator, value in pairs}

    def parted(self) -> dict[str, list[str]]:
        """Return the JVM's arguments, masked, by who they are of: the scripts' kinds (logging, heap ...), and given.

        The default of a script that somebody wrote down too cannot be told from the script's own.
        """
        parts: dict[str, list[str]] = {kind: [] for kind, _pattern in _OF_SCRIPTS}
        parts["given"] = []
        for word in self.jvm:
            kind = next((kind for kind, pattern in _OF_SCRIPTS if pattern.match(word)), "given")
            parts[kind].append(masked_word(word))
        return parts


def _last(pattern: re.Pattern[str], words: Sequence[str]) -> str:
    matches = [match[1] for match in map(pattern.match, words) if match]
    return matches[-1] if matches else ""


def is_java(argv: Sequence[str]) -> bool:
    """Tell whether a command line is that of java itself, and not of a script, sudo or grep that names it."""
    return bool(argv) and posixpath.basename(argv[0]) == "java"


def argument_files(argv: Sequence[str]) -> list[str]:
    """Return the files of arguments (@file) that java was started with, in order."""
    return [word[1:] for word in _before_main(argv) if word.startswith("@") and not word.startswith("@@")]


def expanded(argv: Sequence[str], words: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a command line with the words of its files of arguments in their place; of an unknown file it stays.

    words -- by the name of the file, as the command line has it, what stands there.
    """
    before = len(_before_main(argv)) + 1
    out = list(argv[:1])
    for word in argv[1:before]:
        out += words.get(word[1:], [word]) if word.startswith("@") else [word]
    return out + list(argv[before:])


def _before_main(argv: Sequence[str]) -> Sequence[str]:
    """Return the words between java and its main class: behind it an @ is none of java's."""
    at = 1
    while at < len(argv) and argv[at][:1] in ("-", "@"):
        at += 2 if argv[at] in _WITH_VALUE else 1
    return argv[1:at]


def read(argv: Sequence[str]) -> Command | None:
    """Take the command line of a JVM apart; None where it runs none of the products, or is none of java."""
    if not is_java(argv):
        return None
    jvm: list[str] = []
    class_path = ""
    at = 1
    while at < len(argv) and argv[at][:1] in ("-", "@"):
        word = argv[at]
        takes_next = word in _WITH_VALUE and at + 1 < len(argv)
        if word in _CLASS_PATH and takes_next:
            class_path = argv[at + 1]
        elif word.startswith("--class-path="):
            class_path = word.partition("=")[2]
        elif word == "-jar":
            return None
        else:
            jvm += argv[at : at + 2] if takes_next else [word]
        at += 2 if takes_next else 1
    if at >= len(argv) or argv[at] not in MAIN_CLASSES:
        return None
    product, arguments = MAIN_CLASSES[argv[at]], tuple(argv[at + 1 :])
    return Command(
        product=product,
        java=argv[0],
        main_class=argv[at],
        jvm=tuple(jvm),
        class_path=tuple(entry for entry in class_path.split(":") if entry),
        properties_file=_properties_file(product, argv[at], arguments),
        overrides=overrides(arguments[1:]) if product == KAFKA else {},
        arguments=arguments,
        argument_files=tuple(word[1:] for word in jvm if word.startswith("@")),
    )


def _properties_file(product: str, main_class: str, arguments: Sequence[str]) -> str:
    """Return the first argument, which is the file of all of them but the first MirrorMaker; "" without one.

    A server of ZooKeeper that stands alone may be given its port and directory in place of a file (ServerConfig.parse).
    """
    if main_class == "kafka.tools.MirrorMaker":
        named = (arguments[at + 1] for at, word in enumerate(arguments[:-1]) if word == "--consumer.config")
        return next(named, "")
    if product == ZOOKEEPER and len(arguments) > 1:
        return ""
    if product == MIRROR:
        # --clusters may stand on either side of the file (MirrorMaker.main).
        return next((word for word in arguments if word.endswith((".properties", ".conf", ".cfg"))), "")
    return arguments[0] if arguments and not arguments[0].startswith("-") else ""
