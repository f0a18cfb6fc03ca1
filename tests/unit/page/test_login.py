"""Logins: digests, headers, whether a password is right, and at what cost."""

from __future__ import annotations

import base64
import hashlib
import time

import pytest

from page.login import credentials_of, digest, is_right, scrypt_of

SALT = bytes(range(16))
DIGEST = digest("päss:word", SALT)
USERS = {"prometheus": scrypt_of(DIGEST)}


def basic(text: bytes) -> bytes:
    return b"Basic " + base64.b64encode(text)


def test_a_digest_is_that_of_hashlib_and_reads_back() -> None:
    key = hashlib.scrypt("päss:word".encode(), salt=SALT, n=16384, r=8, p=1, dklen=32)
    assert f"scrypt$16384$8$1${SALT.hex()}${key.hex()}" == DIGEST
    assert (scrypt_of(DIGEST).salt, scrypt_of(DIGEST).key) == (SALT, key)
    assert key.hex() not in repr(scrypt_of(DIGEST))


@pytest.mark.parametrize(("password", "salt"), [("x", b""), ("x", b"s" * 15), ("x", b"s" * 65), ("", SALT)])
def test_a_digest_of_too_little_is_refused(password: str, salt: bytes) -> None:
    with pytest.raises(ValueError, match="salt of 16 to 64 bytes"):
        digest(password, salt)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "form"),
        ("secret", "form"),
        (DIGEST + "$", "hexadecimal"),
        (DIGEST.replace("scrypt", "bcrypt"), "form"),
        *(
            (DIGEST.replace("$16384$8$1$", f"${cost}$"), "form")
            for cost in ("16_384$8$1", "16384$8", "-16384$8$1", "2$8$1", "32768$8$1", "16384$0$1", "16384$8$1000000")
        ),
        (DIGEST.rpartition("$")[0], "form"),
        (DIGEST[:-1], "hexadecimal"),
        (DIGEST[:-1] + "x", "hexadecimal"),
        (DIGEST[:-2], "salt of 16 to 64"),
        (DIGEST.replace(SALT.hex(), "00"), "salt of 16 to 64"),
    ],
)
def test_a_digest_that_cannot_serve_is_refused_without_repeating_it(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as caught:
        scrypt_of(text)
    assert SALT.hex() not in str(caught.value)


@pytest.mark.parametrize(
    "header",
    [None, b"", b"Basic", b"Basic ", b"Basic =", b"Basic !!!!", b"Bearer " + basic(b"a:b")[6:], basic(b"no colon"),
     basic(b"\xff:b"), basic(b"a" * 1025 + b":b"), basic(b"a:" + b"b" * 1025), b"Basic \xff\xfe", b"Digest a:b"],
)  # fmt: skip
def test_what_is_no_login_is_none(header: bytes | None) -> None:
    assert credentials_of(header) is None


def test_a_login_ends_its_user_at_the_first_colon() -> None:
    assert credentials_of(basic("prömetheus:päss:word".encode())) == ("prömetheus", "päss:word".encode())
    assert credentials_of(b"bAsIc  " + base64.b64encode(b":")) == ("", b"")


def test_only_the_own_password_is_right() -> None:
    users = {**USERS, "other": scrypt_of(digest("another", SALT))}
    assert is_right(users, "prometheus", "päss:word".encode())
    for user, password in (("prometheus", b"another"), ("other", "päss:word".encode()), ("prometheus", b""),
                           ("nobody", "päss:word".encode()), ("", b""), ("Prometheus", b"x")):  # fmt: skip
        assert not is_right(users, user, password), (user, password)


def test_an_unknown_user_costs_as_much_as_a_known_one() -> None:
    def fastest(user: str) -> float:
        times = []
        for _time in range(5):
            began = time.process_time()
            is_right(USERS, user, b"wrong")
            times.append(time.process_time() - began)
        return min(times)

    assert 0.5 < fastest("nobody") / fastest("prometheus") < 2
