# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Java .properties text: parse it as java.util.Properties does, print it sorted and readable.

Kafka reads its files with Properties.load(InputStream), which takes bytes as ISO-8859-1; so files are read with
READ_ENCODING, and what is printed is pure ASCII (anything else becomes an escape) and reads back the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

READ_ENCODING = "iso-8859-1"

# Java's white space in .properties: space, tab, form feed. Line ends are handled apart.
_BLANK = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_PRINTED = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f", "\\": "\\\\"}

#: Names whose values are secrets: keys that Kafka types as PASSWORD (ssl.*.password, sasl.jaas.config,
#: ssl.keystore.key, delegation.token.secret.key, *.private.key.passphrase ...), and what plugins call theirs.
#: Of tokens, sasl.oauthbearer.token.endpoint.url, delegation.token.expiry.* and delegation.token.max.lifetime.ms are
#: no secrets. This is the collection's one rule; spark_validation/core/fields.py, which shares no code with it, repeats
#: it.
SECRET_NAME = re.compile(
    r"pass(word|phrase|wd|code)|(?<!by)pass$|pw(d|$)|secret|token(?!\.(endpoint|expiry|max)|s\.per)|jaas|credential"
    r"|private|user\.info|connection[._-]?string|(api|access|account)[._-]?key|(?<![a-z])sas(?![a-z])"
    r"|(authorization|assertion|jwt|(?<!oauth)bearer|hmac)([._-]?(value|string|base64|b64|hex|raw))?$"
    r"|key([._-]?store)?[._-]?(base64|b64|content|data|der|hex|jwk|material|pem)$"
    r"|(?<!message)(?<!partition)(?<!routing)(?<!sort)[._-]key$",
    re.IGNORECASE,
)

SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
TOKEN_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
#: It with the CAs of an issuer alone, as listeners have it that take tokens.
_TOKEN_LISTENER = re.compile(
    re.escape(TOKEN_MODULE)
    + r'( unsecuredLoginStringClaim_sub="unused" ssl\.truststore\.type="PEM" ssl\.truststore\.certificates="[^"]*")?;'
)
#: A login with the keys of a keytab, whose path is no secret.
TICKET_MODULE = (
    "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true doNotPrompt=true "
    "isInitiator={initiates} keyTab={keytab} principal={principal};"
)
_TICKET_LISTENER = re.compile(
    re.escape(TICKET_MODULE.format(initiates="@", keytab="#", principal="#"))
    .replace("@", "(true|false)")
    .replace(re.escape("#"), '"[^"]*"')
)

#: From here on a number is one of bytes, records or milliseconds, which Kafka keeps as whole numbers.
_LARGE = 1000


class PropertiesError(ValueError):
    """Text or a value that cannot be a property; carries the key (or line) and the reason."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where = where
        self.reason = reason


def is_secret(key: str) -> bool:
    """Tell whether the value of this key must never be shown (see SECRET_NAME)."""
    return SECRET_NAME.search(key) is not None


def hold_secret(properties: Mapping[str, Any]) -> bool:
    """Tell whether any value must not be shown; those of SCRAM, tokens and Kerberos have the name of a secret alone."""
    return any(is_secret(str(key)) and not _is_open(value) for key, value in properties.items())


def _is_open(value: Any) -> bool:
    """Return whether a login module holds no secret."""
    known = (_TOKEN_LISTENER, _TICKET_LISTENER)
    return isinstance(value, str) and (value == SCRAM_MODULE or any(module.fullmatch(value) for module in known))


def value_text(key: str, value: Any) -> str:
    """Return a value as Kafka writes it: true/false, lists joined by commas. None and mappings raise PropertiesError.

    An empty string is a value (Kafka reads it as an empty list or string); None is nearly always a variable that
    was meant to be set, so it is refused by name instead of printed as "None".
    """
    if value is None:
        raise PropertiesError(key, "has no value (null); give it one, '' for an empty one, or remove the key")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        raise PropertiesError(key, "is a mapping; a property is text, a number, true/false or a list of these")
    if isinstance(value, (list, tuple)):
        if any(isinstance(item, (list, tuple)) for item in value):
            raise PropertiesError(key, "is a list within a list; a property list is flat")
        return ",".join(value_text(key, item) for item in value)
    return _number_text(key, value) if isinstance(value, float) else str(value)


def config_text(key: str, value: Any) -> str | None:
    """Return the text of a value for Kafka's API, as in a file; None stays None (back to the default)."""
    return None if value is None else value_text(key, value)


def _number_text(key: str, number: float) -> str:
    """Print a number as Kafka reads it: a large whole one has neither a point nor an exponent, as YAML's 6.048e+8 has.

    Small ones stay as they are written: 3.0 may be a version, and a node that runs with a factor of 1.0 would restart.
    """
    is_whole = number.is_integer() and _LARGE <= abs(number) < 2**63
    return str(int(number)) if is_whole else str(number)


def to_text(properties: Mapping[str, Any]) -> str:
    """Print properties, one per line, sorted by key, each line ended by a newline; raises PropertiesError."""
    texts = {str(key): value_text(str(key), value) for key, value in properties.items()}
    return "".join(f"{_print_key(key)}={_print_value(texts[key])}\n" for key in sorted(texts))


def parse(text: str) -> dict[str, str]:
    """Parse .properties text: key -> value, escapes resolved, a later line of the same key wins; as C(numbered)."""
    return {key: value for _number, key, value in numbered(text)}


def numbered(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line, key, value); raises PropertiesError on a malformed \\u escape, the one thing that Java refuses."""
    for number, line in _logical_lines(text):
        key, value = _split(line)
        try:
            yield number, _unescape(key), _unescape(value)
        except ValueError as problem:
            raise PropertiesError(f"line {number}", str(problem)) from None


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (number of its first line, joined line) without comments, blanks and continuation marks."""
    parts: list[str] = []
    start = 0
    for number, natural in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        line = natural.lstrip(_BLANK)
        if not parts and (not line or line[0] in "#!"):
            continue
        start = start if parts else number
        slashes = len(line) - len(line.rstrip("\\"))
        if slashes % 2:
            parts.append(line[:-1])
            continue
        yield start, "".join([*parts, line])
        parts = []
    if parts:
        yield start, "".join(parts)


def _split(line: str) -> tuple[str, str]:
    """Split at the first unescaped '=', ':' or blank; blanks around one separator belong to nobody."""
    end = 0
    while end < len(line) and line[end] not in "=:" and line[end] not in _BLANK:
        end += 2 if line[end] == "\\" else 1
    rest = line[end:].lstrip(_BLANK)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANK)
    return line[:end], rest


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    out: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char != "\\":
            out.append(char)
            at += 1
            continue
        char = text[at + 1 : at + 2]
        if char == "u":
            digits = text[at + 2 : at + 6]
            if not re.match(r"[0-9a-fA-F]{4}\Z", digits):
                raise ValueError(f"malformed escape \\u{digits}: four hexadecimal digits belong there")
            out.append(chr(int(digits, 16)))
            at += 6
        else:
            out.append(_ESCAPES.get(char, char))
            at += 2
    # Java escapes a character outside the basic plane as two surrogates: join them again.
    return "".join(out).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _print_key(key: str) -> str:
    return "".join("\\" + char if char in " =:#!" else _print_char(char) for char in key)


def _print_value(value: str) -> str:
    # Inside a value '=', ':' and '#' mean themselves; left bare, so that people can read their URLs.
    printed = "".join(_print_char(char) for char in value)
    return "\\" + printed if printed.startswith(" ") else printed


def _print_char(char: str) -> str:
    if char in _PRINTED:
        return _PRINTED[char]
    if " " <= char <= "~":
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join("\\u{:04X}".format(int.from_bytes(units[at : at + 2], "big")) for at in range(0, len(units), 2))
