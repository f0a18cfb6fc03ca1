"""Write the bytes of a record for people: as JSON, as text or in hexadecimal digits, and never more than fits. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from page.records import bounds
from page.records.trees import NoTreeError, pretty, tree_of

AUTO, JSON, TEXT, HEX = "auto", "json", "text", "hex"
FORMS = (AUTO, JSON, TEXT, HEX)
#: What stands in place of bytes.
NULL, EMPTY, HIDDEN = "null", "empty", "hidden"
_TOO_MUCH = "It, or what is before it on this page, is too much to be looked at as JSON."
#: Bytes of a line of hexadecimal digits, each of which takes four characters with its letter.
_LINE = 16
#: One in so many characters may be none that is printed, and a text is still one.
_ODD = 10


@dataclass(frozen=True)
class Shown:
    """A key, a value or a header: how it is C(form) shown, its C(text), its C(size) in bytes (None: null).

    C(is_cut) says that there is more of it, C(note) why it is shown in another way than was asked for.
    """

    form: str
    text: str = ""
    size: int | None = None
    is_cut: bool = False
    note: str = ""


def shown(data: bytes | None, size: int | None, form: str, most: int, may_parse: bool = True) -> Shown:
    """Return bytes in a form, at most C(most) of them; C(size) is what the record has, before anything was masked.

    Without C(may_parse) they are not looked at as JSON.
    """
    if data is None:
        return Shown(NULL)
    if not data:
        return Shown(EMPTY, size=size)
    may_parse = may_parse and len(data) <= bounds.JSON
    if form in (AUTO, JSON) and may_parse:
        try:
            text, is_cut = pretty(tree_of(data.decode()), most)
        except (NoTreeError, UnicodeDecodeError):
            pass
        else:
            return Shown(JSON, text, size, is_cut)
    note = ("It is no JSON object or list." if may_parse else _TOO_MUCH) if form == JSON else ""
    is_text = _is_text(data)
    if form == HEX or (form != TEXT and not is_text):
        return Shown(HEX, "\n".join(_lines(data[: most // 4])), size, len(data) > most // 4, note)
    whole = data.decode("utf-8", "replace")
    if "\ufffd" in whole and form == TEXT and not is_text:
        note = "It is not UTF-8: hex shows its bytes."
    # By bytes: a text of other scripts has up to four in a character, and half of one at the cut is left out.
    cut = data[:most].decode("utf-8", "ignore" if is_text else "replace")
    return Shown(TEXT, cut, size, len(data) > most, note)


def _is_text(data: bytes) -> bool:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    some = text[:4096]
    odd = sum(not (one.isprintable() or one in "\t\r\n") for one in some)
    return "\0" not in some and odd * _ODD <= len(some)


def _lines(data: bytes) -> Iterator[str]:
    for at in range(0, len(data), _LINE):
        part = data[at : at + _LINE]
        letters = "".join(chr(one) if 32 <= one < 127 else "." for one in part)
        yield f"{at:08x}  {part.hex(' '):<{3 * _LINE}} {letters}"
