"""Write names of clusters, topics and groups into addresses and read them back. Pure.

Any text may be the name of a group. Browsers take the segments "." and ".." out of a path, also where they are
percent-encoded (WHATWG URL, double-dot segment), and many programs drop an empty one. Such a name gets "=" before it,
and so does one that begins with "=".
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from urllib.parse import quote, unquote_to_bytes

_MARK = "="


def path(*names: str) -> str:
    """Return the path whose segments are these names."""
    return "".join(f"/{_segment(name)}" for name in names)


def _segment(name: str) -> str:
    mark = _MARK if name in ("", ".", "..") or name.startswith(_MARK) else ""
    return mark + quote(name, safe="", errors="surrogatepass")


def names_in(raw_path: bytes) -> list[str] | None:
    """Return the names in a path as the client sent it; None where it is no valid UTF-8. The root has none."""
    if raw_path in (b"", b"/"):
        return []
    try:
        found = [unquote_to_bytes(one).decode("utf-8", "surrogatepass") for one in raw_path[1:].split(b"/")]
    except UnicodeDecodeError:
        return None
    return [one.removeprefix(_MARK) for one in found]
