"""Keytabs: whose keys are read, which are too weak or too old, and what is no keytab."""

from __future__ import annotations

import contextlib
import re

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.keytab import (
    Key,
    KeytabError,
    fault,
    newest,
    read_keys,
)
from tests.support.keytabs import AES128, AES256, HOLE, RC4, keytab, record

NAME = "kafka/b1.example.com@EXAMPLE.COM"


def test_keys_are_read_with_name_version_and_kind() -> None:
    content = keytab(record(NAME, 3), HOLE, record("alice@EXAMPLE.COM", 2, AES128))
    assert read_keys(content) == [Key(NAME, 3, AES256), Key("alice@EXAMPLE.COM", 2, AES128)]


def test_a_version_above_255_stands_behind_the_key() -> None:
    content = keytab(record(NAME, 300, long_version=300), record(NAME, 7, long_version=0))
    assert [key.version for key in read_keys(content)] == [300, 7]


def test_what_stands_behind_the_end_is_not_read() -> None:
    assert read_keys(keytab(record(NAME), bytes(4), b"\xff" * 9)) == [Key(NAME, 1, AES256)]
    assert read_keys(keytab()) == []


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no keytab of version 2"),
        (b"-----BEGIN CERTIFICATE-----", "no keytab of version 2"),
        (b"\x05\x01" + record(NAME), "no keytab of version 2"),
        (keytab(record(NAME))[:-1], "cut off"),
        (keytab(b"\x00\x00\x00\x03\x00\x02\x00"), "cannot be read"),
        (keytab(b"\x00\x00\x00\x04\x00\x02\xff\xff"), "cannot be read"),
        (keytab(record(NAME).replace(b"EXAMPLE", b"\xff" * 7, 1)), "cannot be read"),
    ],
)
def test_what_is_no_keytab_is_refused_with_the_reason(content: bytes, why: str) -> None:
    with pytest.raises(KeytabError, match=why):
        read_keys(content)


@pytest.mark.parametrize("length", range(2, len(keytab(record(NAME, long_version=1))), 3))
def test_a_file_that_is_cut_anywhere_breaks_nothing(length: int) -> None:
    with contextlib.suppress(KeytabError):
        assert read_keys(keytab(record(NAME, long_version=1))[:length]) == []


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ([record(NAME)], ""),
        ([record(NAME, 1, RC4), record(NAME, 2)], ""),
        ([], "holds no key"),
        ([record("kafka/b2.example.com@EXAMPLE.COM")], "no key of kafka/b1.example.com@EXAMPLE.COM, but of kafka/b2"),
        ([record("kafka/b1.example.com@example.com")], "no key of"),
        ([record(f"u{number}@R") for number in range(6)], "u3@R and 2 more"),
        ([record(NAME, 1), record(NAME, 2, RC4)], r"\(kvno 2\) are weak or unknown to Java: rc4-hmac"),
        ([record(NAME, 1, 25), record(NAME, 1, 99)], "camellia128-cts-cmac, kind 99"),
    ],
)
def test_why_nobody_is_let_in(records: list[bytes], why: str) -> None:
    said = fault(read_keys(keytab(*records)), NAME)
    assert bool(said) == bool(why)
    assert re.search(why, said)


def test_the_newest_version_is_that_of_the_principal() -> None:
    keys = read_keys(keytab(record(NAME, 2), record(NAME, 5), record("alice@EXAMPLE.COM", 9)))
    assert (newest(keys, NAME), newest(keys, "bob@EXAMPLE.COM")) == (5, 0)
