"""Runs files of tests in an order that a word decides, so that a test which needs another one before it fails.

    ORDER_OF_FILES=any-word python -m pytest -p tests.support.other_order tests/unit

The same word gives the same order, on every machine and in every process of `pytest -n`. Tests of a file stay together
in their own order. tools/clean_check takes the commit as the word.
"""

from __future__ import annotations

import hashlib
import os

import pytest


def place(path: str, word: str) -> str:
    """The place of a file among all files, as something that sorts."""
    return hashlib.sha256(f"{word} {path}".encode()).hexdigest()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the files; the sort is stable, so what is in a file keeps its order."""
    word = os.environ.get("ORDER_OF_FILES", "")
    items.sort(key=lambda item: place(item.nodeid.partition("::")[0], word))


def pytest_report_header() -> str:
    """Name the word, with which a failure can be had again."""
    return f"order of files: ORDER_OF_FILES={os.environ.get('ORDER_OF_FILES', '')}"
