"""What the libraries compress is read without them, and what is hostile costs no more than it may."""

from __future__ import annotations

import gzip
import random
import struct
import sys
import time

import lz4.frame
import pytest
import snappy
import zstandard
from kafka.codec import gzip_encode, lz4_encode, snappy_encode

from page.records.codecs import GZIP, LZ4, NONE, SNAPPY, ZSTD, UnreadableError, unpacked

MOST = 1 << 20
CHANCE = random.Random(7)
TEXTS = [
    b"",
    b"a",
    b"ab" * 40_000,
    CHANCE.randbytes(70_000),
    b'{"order":17,"state":"paid"}' * 9_000,
    b"".join(bytes([CHANCE.choice(b"abc")]) * CHANCE.randrange(40) for _one in range(9_000)),
]


@pytest.mark.parametrize("data", TEXTS, ids=range(len(TEXTS)))
def test_what_libraries_compress_is_read(data: bytes) -> None:
    assert unpacked(NONE, data, MOST) == data
    assert unpacked(GZIP, gzip_encode(data), MOST) == data
    assert unpacked(LZ4, lz4_encode(data), MOST) == data
    for linked, sums in ((False, True), (True, False)):
        framed = lz4.frame.compress(data, block_linked=linked, block_checksum=sums, store_size=sums, block_size=4)
        assert unpacked(LZ4, framed, MOST) == data
    assert unpacked(SNAPPY, snappy.compress(data), MOST) == data
    assert unpacked(SNAPPY, snappy_encode(data), MOST) == data


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4])
def test_what_becomes_too_large_is_left_before_it_is(codec: int) -> None:
    data = b"\0" * 50_000_000
    packed = {GZIP: gzip.compress, SNAPPY: snappy.compress, LZ4: lz4.frame.compress}[codec](data)
    began = time.process_time()
    with pytest.raises(UnreadableError, match="more than the 1,048,576 bytes"):
        unpacked(codec, packed, MOST)
    assert time.process_time() - began < 2
    if codec == SNAPPY:
        with pytest.raises(UnreadableError, match="more than the"):
            unpacked(codec, snappy_encode(data), MOST)
    assert len(unpacked(codec, {GZIP: gzip.compress, SNAPPY: snappy.compress, LZ4: lz4.frame.compress}[codec](
        data[:MOST]), MOST)) == MOST  # fmt: skip


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4, 5, 6, 7])
def test_what_is_no_such_thing_is_an_error_and_nothing_else(codec: int) -> None:
    good = {GZIP: gzip.compress, SNAPPY: snappy_encode, LZ4: lz4.frame.compress}.get(codec, bytes)(TEXTS[4][:3000])
    for _one in range(3_000):
        bad = bytearray(good)
        for _change in range(CHANCE.randrange(1, 6)):
            bad[CHANCE.randrange(len(bad))] = CHANCE.randrange(256)
        try:
            assert len(unpacked(codec, bytes(bad[: CHANCE.randrange(len(bad) + 1)]), 100_000)) <= 100_000
        except UnreadableError:
            continue


def test_a_block_that_says_it_is_endless_is_none() -> None:
    for block in (b"\xff" * 1000, b"\x0f\x01\x00" + b"\xff" * 5000 + b"\0"):
        framed = b"\x04\x22\x4d\x18\x60\x40\x82" + struct.pack("<I", len(block)) + block + bytes(4)
        with pytest.raises(UnreadableError):
            unpacked(LZ4, framed, MOST)


def test_zstd_is_read_within_the_bound_whether_a_frame_tells_its_size_or_not() -> None:
    for has_size in (True, False):
        made = zstandard.ZstdCompressor(write_content_size=has_size).compress(b"record " * 1000)
        assert unpacked(ZSTD, made, MOST) == b"record " * 1000
        assert len(unpacked(ZSTD, made, 7000)) == 7000
        with pytest.raises(UnreadableError, match="more than the 6,999 bytes"):
            unpacked(ZSTD, made, 6999)
    bomb = zstandard.ZstdCompressor().compress(bytes(1 << 28))
    with pytest.raises(UnreadableError, match="more than"):
        unpacked(ZSTD, bomb, 1000)


def test_zstd_that_is_none_says_so() -> None:
    good = bytearray(zstandard.ZstdCompressor(write_checksum=True).compress(bytes(range(256)) * 40))
    for _one in range(300):
        bad = bytearray(good)
        bad[CHANCE.randrange(len(bad))] ^= 1 << CHANCE.randrange(8)
        try:
            assert len(unpacked(ZSTD, bytes(bad), 100_000)) <= 100_000
        except UnreadableError:
            continue
    with pytest.raises(UnreadableError, match="not compressed as it says"):
        unpacked(ZSTD, b"no frame", MOST)


def test_zstd_says_what_reads_it_where_nothing_does(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UnreadableError, match=r"zstd.*Python 3\.14 or with the package zstandard"):
        unpacked(ZSTD, b"\x28\xb5\x2f\xfd", MOST)
