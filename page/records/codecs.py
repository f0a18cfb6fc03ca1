"""Decompress batches of records within a bound: some bytes may stand for gigabytes. Pure.

The host of the page has no library for LZ4 and Snappy, whose formats are simple, so they are read here: LZ4 as frames
of blocks (lz4_Frame_format.md, lz4_Block_format.md), Snappy as blocks (format_description.txt), by themselves or in the
frame of snappy-java that Kafka's clients write. Checksums are not compared: a batch comes over TCP, and its broker has
compared its own. Zstandard is part of Python from 3.14 on; before that the package zstandard reads it.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import importlib
import struct
import zlib
from collections.abc import Callable
from typing import Any

#: Kafka's numbers of them (CompressionType).
NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
_LZ4_MAGIC = b"\x04\x22\x4d\x18"
#: A block that is stored as it is, in its size; and the flags of a frame.
_STORED = 0x80000000
_HAS_SIZE, _HAS_BLOCK_SUM, _HAS_DICTIONARY = 0x08, 0x10, 0x01
#: How a stream of snappy-java begins, before its two versions.
_XERIAL = b"\x82SNAPPY\0"
#: The largest window of a frame of zstd that is read, in bytes: what its highest level (22) writes.
_WINDOW = 1 << 27


class UnreadableError(Exception):
    """A batch that cannot be decompressed, or is too large when it is: why."""


class TooLargeError(UnreadableError):
    """A batch that has more bytes than may be made of it."""


def unpacked(codec: int, data: bytes, most: int) -> bytes:
    """Return what was compressed, of at most C(most) bytes. Raises UnreadableError."""
    readers: dict[int, Callable[[bytes, int], bytes]] = {
        NONE: lambda plain, _most: plain,
        GZIP: _gzip,
        SNAPPY: _snappy_stream,
        LZ4: _lz4_frame,
        ZSTD: _zstd,
    }
    if codec not in readers:
        raise UnreadableError(f"it is compressed in a way that is not known here (codec {codec})")
    try:
        found = readers[codec](data, most)
    except (IndexError, ValueError, struct.error, zlib.error) as error:
        raise UnreadableError("it is not compressed as it says") from error
    if len(found) > most:
        raise _too_large(most)
    return found


def _too_large(most: int) -> TooLargeError:
    return TooLargeError(f"it has more than the {most:,} bytes that are left for this read when it is decompressed")


def _gzip(data: bytes, most: int) -> bytes:
    reader = zlib.decompressobj(wbits=31)
    return reader.decompress(data, most + 1)


def _zstd(data: bytes, most: int) -> bytes:
    for module, reader in (("compression.zstd", _zstd_of_python), ("zstandard", _zstd_of_package)):
        try:
            zstd = importlib.import_module(module)
        except ImportError:
            continue
        try:
            return reader(zstd, data, most)
        except zstd.ZstdError as error:
            raise UnreadableError("it is not compressed as it says") from error
    raise UnreadableError(
        "it is compressed with zstd, which the page can read only with Python 3.14 or with the package zstandard"
    )


def _zstd_of_python(zstd: Any, data: bytes, most: int) -> bytes:
    return bytes(zstd.ZstdDecompressor().decompress(data, most + 1))


def _zstd_of_package(zstd: Any, data: bytes, most: int) -> bytes:
    with zstd.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(data) as stream:
        parts, size = [], 0
        while size <= most and (part := stream.read(most + 1 - size)):
            parts.append(part)
            size += len(part)
    return b"".join(parts)


def _lz4_frame(data: bytes, most: int) -> bytes:
    if data[:4] != _LZ4_MAGIC:
        raise ValueError("no frame of LZ4")
    flags = data[4]
    if flags & _HAS_DICTIONARY:
        raise ValueError("a dictionary")
    # Magic, two bytes of flags, the size, and the sum of the head.
    at = 7 + (8 if flags & _HAS_SIZE else 0)
    out = bytearray()
    while True:
        (size,) = struct.unpack_from("<I", data, at)
        at += 4
        if not size:
            return bytes(out)
        length = size & ~_STORED
        block = data[at : at + length]
        if len(block) < length:
            raise ValueError("a block that is cut")
        if size & _STORED:
            out += block
        else:
            _lz4_block(block, out, most)
        if len(out) > most:
            raise _too_large(most)
        at += length + (4 if flags & _HAS_BLOCK_SUM else 0)


def _lz4_block(block: bytes, out: bytearray, most: int) -> None:
    """Add what a block stands for; a block may refer to those before it."""
    at, end = 0, len(block)
    while at < end:
        token = block[at]
        at += 1
        count, at = _lz4_length(block, at, token >> 4)
        if at + count > end:
            raise ValueError("literals beyond the block")
        out += block[at : at + count]
        at += count
        if at == end:
            return
        back = block[at] | block[at + 1] << 8
        count, at = _lz4_length(block, at + 2, token & 15)
        _copy(out, back, count + 4, most)


def _lz4_length(block: bytes, at: int, length: int) -> tuple[int, int]:
    if length == 15:
        while True:
            more = block[at]
            at += 1
            length += more
            if more != 255:
                break
    return length, at


def _copy(out: bytearray, back: int, count: int, most: int) -> None:
    """Add C(count) bytes from C(back) before the end on, which may reach into what is added."""
    if not 0 < back <= len(out):
        raise ValueError("a reference before the beginning")
    if len(out) + count > most:
        raise _too_large(most)
    start = len(out) - back
    if count <= back:
        out += out[start : start + count]
    else:
        part = bytes(out[start:])
        out += (part * (count // back + 1))[:count]


def _snappy_stream(data: bytes, most: int) -> bytes:
    if not data.startswith(_XERIAL):
        return _snappy_block(data, most)
    out = bytearray()
    at = 16
    while at < len(data):
        (size,) = struct.unpack_from(">i", data, at)
        at += 4
        if size < 0 or at + size > len(data):
            raise ValueError("a block that is cut")
        out += _snappy_block(data[at : at + size], most - len(out))
        at += size
    return bytes(out)


def _snappy_block(data: bytes, most: int) -> bytes:
    size, at = _snappy_size(data)
    if size > most:
        raise _too_large(most)
    out = bytearray()
    end = len(data)
    while at < end:
        tag = data[at]
        at += 1
        kind = tag & 3
        if kind == 0:
            count = tag >> 2
            if count >= 60:
                width = count - 59
                count = int.from_bytes(data[at : at + width], "little")
                at += width
            count += 1
            if at + count > end or len(out) + count > size:
                raise ValueError("literals beyond the block")
            out += data[at : at + count]
            at += count
        elif kind == 1:
            _copy(out, (tag >> 5) << 8 | data[at], (tag >> 2 & 7) + 4, size)
            at += 1
        else:
            width = 2 if kind == 2 else 4
            _copy(out, int.from_bytes(data[at : at + width], "little"), (tag >> 2) + 1, size)
            at += width
    if len(out) != size:
        raise ValueError("another size than it says")
    return bytes(out)


def _snappy_size(data: bytes) -> tuple[int, int]:
    size = 0
    for at in range(5):
        size |= (data[at] & 127) << 7 * at
        if data[at] < 128:
            return size, at + 1
    raise ValueError("a size without an end")
