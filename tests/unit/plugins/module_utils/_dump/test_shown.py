# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown of records: no proof of a login, no value of a secret setting, values of users only on request."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from ansible_collections.streamops.kafka.plugins.module_utils._dump.asked import Asked
from ansible_collections.streamops.kafka.plugins.module_utils._dump.printed import Record, records
from ansible_collections.streamops.kafka.plugins.module_utils._dump.shown import (
    LONGEST,
    shown,
    texts,
    tree_lines,
    without_secrets,
    words,
)

PRINTED = Path(__file__).with_name("printed")
METADATA = Asked("metadata", "__cluster_metadata", 0)
ORDERS = Asked("orders-1", "orders", 1)
RECORD = Record("/x", 7, "CreateTime", 1_700_000_000_123, 1, 3, ["trace"], key="k", value="abc")


def metadata(name: str) -> str:
    """All that is shown of a log of metadata, as text."""
    found = records([(PRINTED / f"{name}.txt").read_bytes()], True)
    return json.dumps([shown(one, "__cluster_metadata-0", METADATA) for one in found])


def test_proofs_of_logins_and_values_of_secret_settings_are_left_out() -> None:
    for name in ("3.9.2-snapshot", "4.3.1-metadata"):
        raw = (PRINTED / f"{name}.txt").read_text()
        secrets = re.findall(r'"(?:salt|storedKey|serverKey)":"([^"]+)"', raw)
        assert len(secrets) == 3
        text = metadata(name)
        assert '"alice"' in text
        assert [one for one in secrets if one in text] == []
        assert text.count('"***"') >= 3
    assert "pw-of-a-store" in raw
    assert "pw-of-a-store" not in text
    assert "ssl.keystore.password" in text
    assert '"min.insync.replicas", "value": "1"' in text


def test_fields_named_like_a_secret_are_left_out_and_others_stay() -> None:
    given = {
        "type": "CONFIG_RECORD",
        "data": [{"name": "sasl.jaas.config", "value": "x"}, {"hmac": "y", "tokenId": "z"}],
    }
    assert without_secrets(given) == {
        "type": "CONFIG_RECORD",
        "data": [{"name": "sasl.jaas.config", "value": "***"}, {"hmac": "***", "tokenId": "***"}],
    }
    harmless = {"name": "retention.ms", "value": "5", "leader": 1, "partitionKey": None}
    assert without_secrets(harmless) == harmless


def test_metadata_that_could_not_be_decoded_is_not_shown() -> None:
    broken = replace(RECORD, value="Error at 7, skipping. salt=abc")
    assert "abc" not in str(shown(broken, "p", METADATA))


def test_values_of_users_are_shown_only_on_request() -> None:
    found = shown(RECORD, "orders-1", ORDERS)
    assert "value" not in found
    assert (found["key"], found["headers"], found["time"]) == ("k", ["trace"], "2023-11-14T22:13:20.123Z")
    assert shown(RECORD, "orders-1", replace(ORDERS, payload=True))["value"] == "abc"
    long = replace(RECORD, value="é" * (LONGEST + 1))
    assert shown(long, "p", replace(ORDERS, payload=True))["value"].endswith(f"... ({LONGEST + 1:,} characters)")


def test_a_key_is_found_in_the_fields_of_what_is_decoded() -> None:
    group = replace(RECORD, key='{"type":"1","data":{"group":"billing","partition":1}}', value="{}")
    assert texts(group, Asked("offsets", "__consumer_offsets", None)) == ["1", "billing", "1"]
    assert texts(RECORD, ORDERS) == ["k"]
    scram = replace(RECORD, value='{"type":"USER_SCRAM_CREDENTIAL_RECORD","data":{"name":"alice","salt":"c2FsdA=="}}')
    assert texts(scram, METADATA) == ["USER_SCRAM_CREDENTIAL_RECORD", "alice"]


def test_the_tree_of_a_snapshot_has_no_secret() -> None:
    raw = (PRINTED / "4.3.1-tree.txt").read_text()
    text = "\n".join(tree_lines(raw))
    assert "ScramCredentialData(salt=***, storedKey=***, serverKey=***, iterations=4096)" in text
    assert len(text.splitlines()) == len(raw.splitlines())
    hidden = tree_lines(
        "image:\n  configs:\n    BROKER:\n      ssl.keystore.password:\n        geheim\n        2\n"
        "      log.retention:\n        5\n"
    )
    assert hidden == [
        "image:",
        "  configs:",
        "    BROKER:",
        "      ssl.keystore.password:",
        "        ***",
        "      log.retention:",
        "        5",
    ]


#: Of values of several lines the shell indents the first line only.
PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQ:\n  deep\u2028er\x85and\x0bmore\n\nlabel:\n-----END PRIVATE KEY-----"
JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required\nusername="u"\npassword="geheim";'


def test_a_secret_of_several_lines_is_left_out_to_its_last_one() -> None:
    found = tree_lines(
        f"image:\n  configs:\n    BROKER:\n      listener.name.ssl.ssl.keystore.key:\n        {PEM}\n"
        f"      log.retention:\n        5\n    SECOND:\n      sasl.jaas.config:\n        {JAAS}\n"
        "  delegationToken:\nlocal:\n  version:\n    4.3.1\n"
    )
    assert found == [
        "image:",
        "  configs:",
        "    BROKER:",
        "      listener.name.ssl.ssl.keystore.key:",
        "        ***",
        "      log.retention:",
        "        5",
        "    SECOND:",
        "      sasl.jaas.config:",
        "        ***",
        "  delegationToken:",
        "local:",
        "  version:",
        "    4.3.1",
    ]


def test_a_line_of_a_harmless_value_does_not_end_the_settings() -> None:
    found = tree_lines(
        "image:\n  configs:\n    B:\n      header:\n        one\ntwo:\n"
        "      ssl.key.password:\n        geheim\nlocal:\n"
    )
    assert "geheim" not in "\n".join(found)


def test_what_is_no_setting_keeps_its_subtree_whatever_its_name() -> None:
    tree = (
        "image:\n  configs:\n    TOPIC:token:\n      retention.ms:\n        5\n"
        "  topics:\n    byName:\n      token-secret-password:\n        name:\n          x"
    )
    assert "\n".join(tree_lines(tree)) == tree


def test_a_key_is_found_in_the_text_that_kafka_before_4_prints() -> None:
    offsets = Asked("offsets", "__consumer_offsets", None)
    commit = replace(RECORD, key="offset_commit::group=billing,partition=big-orders-1")
    assert {"billing", "big-orders-1", "big-orders", "offset_commit"} <= set(texts(commit, offsets))
    transactions = Asked("transactions", "__transaction_state", None)
    assert "pay" in texts(replace(RECORD, key="transaction_metadata::transactionalId=pay"), transactions)


def test_a_key_is_found_in_the_names_of_the_tree() -> None:
    assert "orders" in words("      orders:")
    assert {"TOPIC:orders", "orders"} <= set(words("    TOPIC:orders:"))
    assert {"iterations", "4096"} <= set(words("  ScramCredentialData(salt=***, iterations=4096)"))
