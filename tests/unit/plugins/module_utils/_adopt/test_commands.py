"""Command lines as Kafka's, ZooKeeper's and Confluent's own scripts put them together, and those of people."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._adopt import commands as subject

#: What kafka-run-class.sh of 4.3 starts for `bin/kafka-server-start.sh -daemon config/server.properties --override ...`
#: in /opt/kafka, with nothing set in the environment.
APACHE = [
    *("java", "-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"),
    *("-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent", "-XX:MaxInlineLevel=15"),
    "-Djava.awt.headless=true",
    "-Xlog:gc*:file=/opt/kafka/bin/../logs/kafkaServer-gc.log:time,tags:filecount=10,filesize=100M",
    *("-Dcom.sun.management.jmxremote=true", "-Dcom.sun.management.jmxremote.authenticate=false"),
    "-Dcom.sun.management.jmxremote.ssl=false",
    *("-Dkafka.logs.dir=/opt/kafka/bin/../logs", "-Dlog4j2.configurationFile=bin/../config/log4j2.yaml"),
    *("-cp", "/opt/kafka/bin/../libs/kafka-clients-4.3.1.jar:/opt/kafka/bin/../libs/kafka_2.13-4.3.1.jar"),
    *("kafka.Kafka", "config/server.properties", "--override", "broker.id=3"),
]
#: Of Confluent's package 7.6 on Debian, with KAFKA_HEAP_OPTS, JMX_PORT and KAFKA_OPTS of a drop-in.
CONFLUENT = [
    *("/usr/lib/jvm/java-17-openjdk-amd64/bin/java", "-Xms6g", "-Xmx6g", "-server", "-XX:+UseG1GC"),
    *("-Dcom.sun.management.jmxremote", "-Dcom.sun.management.jmxremote.port=9999"),
    *("-Dkafka.logs.dir=/var/log/kafka", "-Dlog4j.configuration=file:/etc/kafka/log4j.properties"),
    *("-cp", "/usr/bin/../share/java/kafka/*:/usr/bin/../share/java/confluent-telemetry/*"),
    *("-Djava.security.auth.login.config=/etc/kafka/jaas.conf", "-Djavax.net.ssl.keyStorePassword=changeit,=x"),
    "-javaagent:/opt/jmx/jmx_prometheus_javaagent.jar=7071:/etc/kafka/jmx.yml",
    *("kafka.Kafka", "/etc/kafka/server.properties"),
]


def read(argv: list[str]) -> subject.Command:
    command = subject.read(argv)
    assert command is not None
    return command


def test_a_broker_that_was_started_by_hand() -> None:
    command = read(APACHE)
    assert (command.product, command.main_class, command.java) == ("kafka", "kafka.Kafka", "java")
    assert command.properties_file == "config/server.properties"
    assert command.overrides == {"broker.id": "3"}
    assert command.logs_dir == "/opt/kafka/bin/../logs"
    assert command.log_configuration == "bin/../config/log4j2.yaml"
    assert command.jmx_port is None
    assert [path.rpartition("/")[2] for path in command.class_path] == [
        "kafka-clients-4.3.1.jar",
        "kafka_2.13-4.3.1.jar",
    ]


def test_what_the_scripts_add_is_no_choice_of_a_person() -> None:
    parts = read(APACHE).parted()
    assert parts["given"] == []
    assert parts["heap"] == ["-Xmx1G", "-Xms1G"]
    assert parts["logging"] == [
        "-Dkafka.logs.dir=/opt/kafka/bin/../logs",
        "-Dlog4j2.configurationFile=bin/../config/log4j2.yaml",
    ]
    assert [len(parts[kind]) for kind in ("jmx", "gc_log", "performance")] == [3, 1, 7]


def test_what_a_person_gave_is_told_apart_and_no_password_is_shown() -> None:
    command = read(CONFLUENT)
    assert command.parted()["given"] == [
        "-Xms6g",
        "-Xmx6g",
        "-Djava.security.auth.login.config=/etc/kafka/jaas.conf",
        "-Djavax.net.ssl.keyStorePassword=********",
        "-javaagent:/opt/jmx/jmx_prometheus_javaagent.jar=7071:/etc/kafka/jmx.yml",
    ]
    assert command.jmx_port == 9999
    assert command.log_configuration == "/etc/kafka/log4j.properties"
    assert command.system_properties["javax.net.ssl.keyStorePassword"] == "changeit,=x"
    assert command.class_path[0] == "/usr/bin/../share/java/kafka/*"


def test_a_server_that_zkserver_sh_started() -> None:
    command = read(
        [
            *("/opt/jdk/bin/java", "-Dzookeeper.log.dir=/opt/zk/bin/../logs", "-Dzookeeper.log.file=zookeeper.log"),
            *("-XX:+HeapDumpOnOutOfMemoryError", "-XX:OnOutOfMemoryError=kill -9 %p"),
            *("-cp", "/opt/zk/bin/../lib/zookeeper-3.8.6.jar:/opt/zk/bin/../conf:", "-Xmx1000m", "-Dzookeeper.x=y"),
            *("-Dcom.sun.management.jmxremote", "-Dcom.sun.management.jmxremote.local.only=false"),
            *("org.apache.zookeeper.server.quorum.QuorumPeerMain", "/opt/zk/bin/../conf/zoo.cfg"),
        ]
    )
    assert command.parted()["given"] == ["-Dzookeeper.x=y"]
    assert (command.logs_dir, command.properties_file) == ("/opt/zk/bin/../logs", "/opt/zk/bin/../conf/zoo.cfg")
    assert command.class_path == ("/opt/zk/bin/../lib/zookeeper-3.8.6.jar", "/opt/zk/bin/../conf")


@pytest.mark.parametrize(
    ("main", "arguments", "product", "file"),
    [
        ("org.apache.zookeeper.server.quorum.QuorumPeerMain", ["/zk.properties"], "zookeeper", "/zk.properties"),
        ("org.apache.zookeeper.server.ZooKeeperServerMain", ["2181", "/var/lib/zookeeper"], "zookeeper", ""),
        ("org.apache.kafka.connect.mirror.MirrorMaker", ["mm2.properties"], "mirror", "mm2.properties"),
        ("org.apache.kafka.connect.mirror.MirrorMaker", ["--clusters", "b", "m.conf"], "mirror", "m.conf"),
        ("kafka.tools.MirrorMaker", ["--consumer.config", "c.cfg", "--producer.config", "p.cfg"], "mirror", "c.cfg"),
        ("org.apache.kafka.connect.cli.ConnectDistributed", ["/c.properties"], "connect", "/c.properties"),
        ("org.apache.kafka.connect.cli.ConnectStandalone", ["worker", "sink"], "connect", "worker"),
        ("io.confluent.support.metrics.SupportedKafka", ["/s.properties"], "kafka", "/s.properties"),
        ("kafka.Kafka", [], "kafka", ""),
    ],
)  # fmt: skip
def test_products_by_their_main_class(main: str, arguments: list[str], product: str, file: str) -> None:
    command = read(["java", "-cp", "x.jar", main, *arguments])
    assert (command.product, command.properties_file) == (product, file)


@pytest.mark.parametrize(
    "argv",
    [
        [],
        [""],
        ["java"],
        ["java", "-cp"],
        ["java", "-version"],
        ["java", "-jar", "kafka.Kafka"],
        ["java", "-cp", "x", "org.elasticsearch.Main", "kafka.Kafka"],
        ["grep", "kafka.Kafka"],
        ["/bin/bash", "/opt/kafka/bin/kafka-run-class.sh", "-name", "kafkaServer", "kafka.Kafka", "server.properties"],
        ["sudo", "-u", "kafka", "java", "-cp", "x", "kafka.Kafka", "server.properties"],
        ["javac", "-cp", "x", "kafka.Kafka"],
    ],
)
def test_what_only_names_a_product_is_none(argv: list[str]) -> None:
    assert subject.read(argv) is None


def test_words_after_an_option_belong_to_it() -> None:
    command = read(["java", "--add-opens", "java.base/java.nio=ALL-UNNAMED", "--class-path=a.jar", "kafka.Kafka", "s"])
    assert command.jvm == ("--add-opens", "java.base/java.nio=ALL-UNNAMED")
    assert command.class_path == ("a.jar",)


@pytest.mark.parametrize(
    ("arguments", "overrides"),
    [
        (["--override", "a=b", "--override", "a=c"], {"a": "c"}),
        (["--override=listeners=PLAINTEXT://:9092"], {"listeners": "PLAINTEXT://:9092"}),
        (["--override", "sasl.jaas.config=x y=\"z\";"], {"sasl.jaas.config": "x y=\"z\";"}),
        (["--override"], {}),
        (["--override", "a", "--override", "=b", "--override", "c="], {"a": "", "c": ""}),
        (["--override", "log.dirs=/d\u00fcnn/\u65e5"], {"log.dirs": "/d\u00fcnn/\u65e5"}),
    ],
)  # fmt: skip
def test_overrides(arguments: list[str], overrides: dict[str, str]) -> None:
    assert subject.overrides(arguments) == overrides


def test_the_files_of_arguments_take_their_place() -> None:
    argv = ["java", "@/etc/kafka/jvm.options", "-Da=b", "kafka.Kafka", "@not.java"]
    assert subject.argument_files(argv) == ["/etc/kafka/jvm.options"]
    whole = subject.expanded(argv, {"/etc/kafka/jvm.options": ["-Xmx2g", "-cp", "/r/libs/*"]})
    assert whole == ["java", "-Xmx2g", "-cp", "/r/libs/*", "-Da=b", "kafka.Kafka", "@not.java"]
    assert subject.expanded(argv, {}) == argv
    unread = read(argv)
    assert (unread.argument_files, unread.properties_file) == (("/etc/kafka/jvm.options",), "@not.java")


def test_a_file_of_arguments_may_hold_the_main_class() -> None:
    whole = subject.expanded(["java", "@all"], {"all": ["-cp", "x", "kafka.Kafka", "server.properties"]})
    assert read(whole).properties_file == "server.properties"
