"""Where the Alertmanager is, as the settings have it, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest

from page.alerts.settings import Alertmanager, alertmanager_of


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, None),
        ({"url": "http://127.0.0.1:9093"}, Alertmanager(False, "127.0.0.1", 9093, "/api/v2/alerts")),
        ({"url": "http://alerts"}, Alertmanager(False, "alerts", 80, "/api/v2/alerts")),
        (
            {"url": "https://alerts.example/am/", "user": "u", "password": "p:q", "ca_file": "/etc/ca.pem"},
            Alertmanager(True, "alerts.example", 443, "/am/api/v2/alerts", "u", "p:q", "/etc/ca.pem"),
        ),
        ({"url": "http://[fd00::2]:9093/"}, Alertmanager(False, "fd00::2", 9093, "/api/v2/alerts")),
    ],
)
def test_an_address_is_taken_apart(given: Any, expected: Alertmanager | None) -> None:
    assert alertmanager_of(given) == (expected, [])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("http://x", "is no object"),
        ({}, "url is no address"),
        ({"url": "127.0.0.1:9093"}, "url is no address"),
        ({"url": "ftp://x"}, "url is no address"),
        ({"url": "http://u:secret@x"}, "url is no address"),
        ({"url": "http://x/?a=b"}, "url is no address"),
        ({"url": "http://x:99999"}, "url is no address"),
        ({"url": "http://x y"}, "url is no address"),
        ({"url": "http://x\r\nHost: y"}, "url is no text"),
        ({"url": 7}, "url is no text"),
        ({"url": "http://x", "user": "u"}, "without the other"),
        ({"url": "http://x", "user": "u:v", "password": "secret"}, "user has a colon"),
        ({"url": "http://x", "ca_file": "ca.pem"}, "absolute path"),
        ({"url": "http://x", "token": "secret"}, '"token" is unknown'),
    ],
)
def test_what_is_wrong_is_said_without_a_secret(given: Any, said: str) -> None:
    found, wrong = alertmanager_of(given)
    assert found is None
    assert len(wrong) == 1
    assert said in wrong[0]
    assert "secret" not in wrong[0]
    assert "secret" not in repr(alertmanager_of({"url": "http://x", "user": "u", "password": "secret"}))
