# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokens for our own logins, of an issuer that answers, refuses, babbles or is away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.issuer import Answer
from ansible_collections.streamops.kafka.plugins.module_utils._client.login import SaslLogin
from ansible_collections.streamops.kafka.plugins.module_utils._client.tokens import (
    TokenError,
    Tokens,
    fetched,
    tokens_of,
)
from tests.support.cluster import free_port_base
from tests.support.token_issuer import CLIENT, LIFETIME, SECRET, TokenIssuer

LOGIN = SaslLogin("OAUTHBEARER", CLIENT, SECRET, "https://id.example.com/token", "kafka")


class Questions:
    """An issuer with one answer, which counts what it is asked."""

    def __init__(self, status: int = 200, body: object = None, problem: Exception | None = None) -> None:
        given = {"access_token": "a.b.c", "expires_in": 100} if body is None else body
        self.answer = Answer(status, given if isinstance(given, bytes) else json.dumps(given).encode())
        self.problem = problem
        self.asked: list[tuple[Any, ...]] = []

    def __call__(self, *question: Any) -> Answer:
        self.asked.append(question)
        if self.problem:
            raise self.problem
        return self.answer


def test_a_token_is_asked_for_with_client_credentials() -> None:
    issuer = Questions()
    assert fetched(LOGIN, issuer) == ("a.b.c", 100.0)
    url, authorities, form, authorization = issuer.asked[0]
    assert (url, authorities) == (LOGIN.endpoint_url, "")
    assert form == {"grant_type": "client_credentials", "scope": "kafka"}
    assert authorization.startswith("Basic ")


def test_a_token_is_kept_until_shortly_before_its_end() -> None:
    issuer, now = Questions(), [0.0]
    tokens = Tokens(LOGIN, issuer, lambda: now[0])
    assert {tokens.token() for _ in range(5)} == {"a.b.c"}
    now[0] = 79.0
    tokens.token()
    assert len(issuer.asked) == 1
    now[0] = 81.0
    tokens.token()
    assert len(issuer.asked) == 2


def test_an_issuer_that_is_away_is_not_asked_by_every_connection() -> None:
    issuer, now = Questions(problem=ConnectionRefusedError("Connection refused")), [0.0]
    tokens = Tokens(LOGIN, issuer, lambda: now[0])
    for _ in range(3):
        with pytest.raises(TokenError, match="does not answer: Connection refused"):
            tokens.token()
    assert len(issuer.asked) == 1
    issuer.problem, now[0] = None, 10.0
    assert tokens.token() == "a.b.c"


@pytest.mark.parametrize(
    ("status", "body", "said", "is_final"),
    [
        (401, {"error": "invalid_client", "error_description": "Bad\r\nsecret"}, "401: invalid_client Badsecret", True),
        (400, {"error": "invalid_scope"}, "400: invalid_scope", True),
        (404, b"<html>", "404", True),
        (302, b"", "302", False),
        (429, b"", "429", False),
        (503, {"error": "temporarily_unavailable"}, "503: temporarily_unavailable", False),
        (200, {"id_token": "a.b.c"}, "no access_token", True),
        (200, {"access_token": "a\x01auth=Bearer b"}, "no access_token", True),
        (200, {"access_token": 5}, "no access_token", True),
        (200, ["a"], "no access_token", True),
        (200, b"\xff", "no access_token", True),
        (200, b'"' + b"x" * (1 << 20) + b'"', "no access_token", True),
        (200, b"[" * 200_000, "no access_token", True),
    ],
)
def test_an_answer_without_a_token_says_what_it_says_and_whether_waiting_helps(
    status: int, body: object, said: str, is_final: bool
) -> None:
    with pytest.raises(TokenError) as refused:
        fetched(LOGIN, Questions(status, body))
    assert said in str(refused.value)
    assert bool(refused.value.fix) is is_final
    assert SECRET not in f"{refused.value}{refused.value.fix}"


@pytest.mark.parametrize(
    ("until", "seconds"),
    [
        (None, 30.0),
        ("soon", 30.0),
        (-5, 0.0),
        ("60", 60.0),
        (10**400, 30.0),
        (float("inf"), 30.0),
        (float("nan"), 30.0),
    ],
)
def test_a_token_whose_end_is_not_said_is_kept_for_a_short_time(until: object, seconds: float) -> None:
    body = {"access_token": "a", **({} if until is None else {"expires_in": until})}
    assert fetched(LOGIN, Questions(body=body)) == ("a", seconds)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://id.example.com/token", "anybody on the way can read its secret"),
        ("htps://id.example.com/token", "no address of the form"),
        ("https://me:hidden@id.example.com/token", "it holds a user or a password"),
        ("", "no such address"),
    ],
)
def test_no_secret_is_sent_to_an_address_where_others_may_read_it(url: str, why: str) -> None:
    issuer = Questions()
    with pytest.raises(TokenError, match=why) as refused:
        fetched(SaslLogin("OAUTHBEARER", CLIENT, SECRET, url), issuer)
    assert refused.value.fix
    assert not issuer.asked
    assert "hidden" not in str(refused.value)
    assert fetched(SaslLogin("OAUTHBEARER", CLIENT, SECRET, "http://127.0.0.1:8/token"), issuer)[0] == "a.b.c"


def test_a_ca_file_that_is_missing_is_named() -> None:
    with pytest.raises(TokenError, match="No such file") as refused:
        fetched(SaslLogin("OAUTHBEARER", CLIENT, SECRET, "https://a/t", "", "/nowhere/ca.pem"), Questions())
    assert "/nowhere/ca.pem" in refused.value.fix


def test_a_ca_file_without_certificates_is_not_replaced_by_the_cas_of_the_machine(tmp_path: Path) -> None:
    file, issuer = tmp_path / "ca.pem", Questions()
    file.write_text("")
    with pytest.raises(TokenError, match="holds no certificate in PEM form") as refused:
        fetched(SaslLogin("OAUTHBEARER", CLIENT, SECRET, "https://a/t", "", str(file)), issuer)
    assert str(file) in refused.value.fix
    assert not issuer.asked


def test_a_ca_file_may_have_comments_in_any_language(tmp_path: Path) -> None:
    with TokenIssuer(tmp_path, free_port_base()) as issuer:
        issuer.ca_file.write_bytes("# Főtanúsítvány\n".encode() + issuer.ca_file.read_bytes())
        known = SaslLogin("OAUTHBEARER", CLIENT, SECRET, f"{issuer.url}/token", "", str(issuer.ca_file))
        assert fetched(known)[1] == LIFETIME


def test_a_real_issuer_gives_a_token_and_refuses_a_wrong_secret(tmp_path: Path) -> None:
    with TokenIssuer(tmp_path, free_port_base()) as issuer:
        known = SaslLogin("OAUTHBEARER", CLIENT, SECRET, f"{issuer.url}/token", "", str(issuer.ca_file))
        token, seconds = fetched(known)
        assert token.count(".") == 2
        assert seconds == LIFETIME
        assert tokens_of(known) is tokens_of(known)
        wrong = SaslLogin("OAUTHBEARER", CLIENT, "other", known.endpoint_url, "", known.ca_file)
        with pytest.raises(TokenError, match="401: invalid_client"):
            fetched(wrong)
        with pytest.raises(TokenError, match="certificate is refused"):
            fetched(SaslLogin("OAUTHBEARER", CLIENT, SECRET, known.endpoint_url))
