"""Read from the settings where the Alertmanager is. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from page.core.checks import short

#: Characters of the longest text.
_LONGEST = 1000
_KNOWN = ("url", "user", "password", "ca_file")
_FIX = "Set http:// or https://, a host, a port and a path, and a login in user and password."


@dataclass(frozen=True)
class Alertmanager:
    """Where an Alertmanager answers: C(path) is that of its alerts. Without C(user) there is no login.

    C(ca_file): the path of its CA; empty trusts what the machine trusts.
    """

    is_tls: bool
    host: str
    port: int
    path: str
    user: str = ""
    password: str = field(default="", repr=False)
    ca_file: str = ""


def alertmanager_of(given: object) -> tuple[Alertmanager | None, list[str]]:
    """Return where it is, None without one, and what is wrong with that; no message repeats a login."""
    if given is None:
        return None, []
    if not isinstance(given, dict):
        return None, ["alertmanager is no object. Set url in it, or leave it out."]
    wrong = [f"{short(name)} is unknown. Remove it." for name in sorted(given.keys() - set(_KNOWN))]
    texts = {name: given.get(name, "") for name in _KNOWN}
    wrong += [
        f"{name} is no text of at most {_LONGEST} printable characters. Correct it."
        for name, text in texts.items()
        if not isinstance(text, str) or len(text) > _LONGEST or not text.isprintable()
    ]
    if not wrong:
        if bool(texts["user"]) != bool(texts["password"]):
            wrong.append("one of user and password is set without the other. Set both, or none.")
        if ":" in texts["user"]:
            wrong.append("user has a colon, which ends a user in HTTP basic (RFC 7617). Correct it.")
        if texts["ca_file"] and not texts["ca_file"].startswith("/"):
            wrong.append("ca_file is not the absolute path of a PEM file. Correct it.")
    place = None if wrong else _place(texts["url"])
    if not wrong and place is None:
        wrong.append(f"url is no address of an Alertmanager. {_FIX}")
    if wrong or place is None:
        return None, [f"alertmanager: {one}" for one in wrong]
    return Alertmanager(*place, texts["user"], texts["password"], texts["ca_file"]), []


def _place(url: str) -> tuple[bool, str, int, str] | None:
    """Return the parts of an address; None for what is none, or has a login, a query or a fragment."""
    try:
        found = urlsplit(url)
        port = found.port
    except ValueError:
        return None
    is_tls = found.scheme == "https"
    if found.scheme not in ("http", "https") or not found.hostname or "@" in found.netloc or port == 0:
        return None
    if found.query or found.fragment or not url.isascii() or " " in url:
        return None
    return is_tls, found.hostname, port or (443 if is_tls else 80), f"{found.path.rstrip('/')}/api/v2/alerts"
