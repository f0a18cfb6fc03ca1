# SPDX-License-Identifier: GPL-3.0-or-later
"""The digest of what the files of a node say."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.generation_state import content_digest


def one(name: str, content: str, secret: bool = False) -> dict[str, Any]:
    return {"name": name, "content": content, "secret": secret}


PROPERTIES = "num.io.threads=8\nssl.keystore.password=hunter2\n"


def test_no_files_have_no_digest() -> None:
    assert content_digest([]) == ""


def test_it_is_of_names_and_contents_and_not_of_their_order() -> None:
    files = [one("jvm.options", "-Xmx1g"), one("server.properties", PROPERTIES, secret=True)]
    assert content_digest(files) == content_digest(files[::-1])
    assert content_digest(files) != content_digest([one("jvm.options", "-Xmx2g"), files[1]])
    assert content_digest(files) != content_digest([{**files[0], "name": "start"}, files[1]])


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("server.properties", PROPERTIES, PROPERTIES.replace("hunter2", "hunter3")),
        ("server.properties", "\\uzzzz=1", "\\uzzzz=2"),
        ("keystore.pem", "one", "other"),
    ],
    ids=["a password", "no properties", "a key"],
)
def test_of_a_secret_file_nothing_secret_counts(name: str, before: str, after: str) -> None:
    assert content_digest([one(name, before, secret=True)]) == content_digest([one(name, after, secret=True)])


def test_a_property_of_a_secret_file_that_is_no_secret_counts() -> None:
    other = PROPERTIES.replace("8", "9")
    assert content_digest([one("server.properties", PROPERTIES, True)]) != content_digest(
        [one("server.properties", other, True)]
    )


def test_a_line_of_another_file_that_names_a_secret_does_not_count() -> None:
    assert content_digest([one("jvm.options", "-Dpassword=a")]) == content_digest([one("jvm.options", "-Dpassword=b")])
