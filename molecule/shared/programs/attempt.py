"""What a client on another machine may do: reads one attempt as JSON on standard input, prints how it ended.

Runs on the client's machine with nothing but Python, kafka-python and, for tickets, gssapi. The attempt has `servers`,
`ca` (PEM text), the `login` (kafka-python's options, a `token`, or the path of a `keytab`), what to `do`, and a `topic`
and a `group` for it. Prints `done`, or the errors' names.
"""

from __future__ import annotations

import io
import json
import logging
import os
import ssl
import sys
from collections.abc import Callable
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import (
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ConfigResource,
    ConfigResourceType,
    KafkaAdminClient,
    NewTopic,
    ResourcePatternFilter,
    ResourceType,
)
from kafka.net.sasl.oauth import AbstractTokenProvider

PATIENCE_MS = 10000


class Given(AbstractTokenProvider):
    """Shows a token that somebody else asked for."""

    def __init__(self, token: str) -> None:
        self._token = token

    def token(self) -> str:
        """The token."""
        return self._token


def options(attempt: dict[str, Any]) -> dict[str, Any]:
    """What every client of the attempt is given."""
    given = {"bootstrap_servers": attempt["servers"], "bootstrap_timeout_ms": PATIENCE_MS, **attempt["login"]}
    if "SSL" in given["security_protocol"]:
        given["ssl_context"] = ssl.create_default_context(cadata=attempt["ca"])
    if token := given.pop("token", ""):
        given["sasl_oauth_token_provider"] = Given(token)
    if keytab := given.pop("keytab", ""):
        os.environ.update(KRB5_CLIENT_KTNAME=f"FILE:{keytab}", KRB5CCNAME="MEMORY:")
    return given


def produce(attempt: dict[str, Any]) -> None:
    """Writes one record, acknowledged by all."""
    producer = KafkaProducer(acks="all", retries=0, max_block_ms=PATIENCE_MS, **options(attempt))
    producer.send(attempt["topic"], b"x").get(timeout=PATIENCE_MS / 1000)


def consume(attempt: dict[str, Any]) -> None:
    """Reads from the first partition, without a group."""
    consumer = KafkaConsumer(auto_offset_reset="earliest", consumer_timeout_ms=3000, **options(attempt))
    partition = TopicPartition(attempt["topic"], 0)
    consumer.assign([partition])
    consumer.beginning_offsets([partition])
    list(consumer)


def commit(attempt: dict[str, Any]) -> None:
    """Joins a group that reads the topic, and commits."""
    more = {"group_id": attempt["group"], "consumer_timeout_ms": 5000, "auto_offset_reset": "earliest"}
    consumer = KafkaConsumer(attempt["topic"], enable_auto_commit=False, **more, **options(attempt))
    list(consumer)
    consumer.commit()
    consumer.close()


def administer(call: Callable[[KafkaAdminClient, dict[str, Any]], Any]) -> Callable[[dict[str, Any]], None]:
    """An attempt that is one call of the administration client."""

    def tried(attempt: dict[str, Any]) -> None:
        call(KafkaAdminClient(**options(attempt)), attempt)

    return tried


def any_acl() -> ACLFilter:
    """The filter that every ACL passes."""
    pattern = ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY)
    return ACLFilter(None, None, ACLOperation.ANY, ACLPermissionType.ANY, pattern)


def alter(admin: KafkaAdminClient, attempt: dict[str, Any]) -> None:
    """Makes the topic forget at once."""
    topic = attempt["topic"]
    wish = ConfigResource(ConfigResourceType.TOPIC, topic, {"retention.ms": "1"})
    answer = admin.alter_configs([wish], raise_on_unknown=False)["topic"][topic]
    # This call of the library returns errors instead of raising them.
    if "Error" in str(answer):
        raise PermissionError(answer)


ATTEMPTS: dict[str, Callable[[dict[str, Any]], None]] = {
    "connect": administer(lambda admin, _: admin.describe_cluster()),
    "produce": produce,
    "consume": consume,
    "commit": commit,
    "describe the group": administer(lambda admin, attempt: admin.describe_groups([attempt["group"]])),
    "create a topic": administer(lambda admin, _: admin.create_topics([NewTopic("made-by-nobody", 1, 3)])),
    "alter the topic": administer(alter),
    "delete the topic": administer(lambda admin, attempt: admin.delete_topics([attempt["topic"]])),
    "describe the ACLs": administer(lambda admin, _: admin.describe_acls(any_acl())),
}


def main() -> None:
    """Tries, and prints how it ended."""
    attempt = json.load(sys.stdin)
    # The client keeps trying when it is not let in; only its log says why.
    log = io.StringIO()
    logging.basicConfig(stream=log, level=logging.WARNING, format="%(message)s")
    try:
        ATTEMPTS[attempt["do"]](attempt)
        print("done")
    except Exception as error:  # Whatever it is, it is the answer.
        print(f"{type(error).__name__}: {error}\n{log.getvalue()}")


if __name__ == "__main__":
    main()
