from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._release import lock as _lock
from ansible_collections.streamops.kafka.plugins.module_utils._release.errors import InvalidInput

ROOT = Path(__file__).parents[5]
LOCKS = sorted(ROOT.glob("roles/*/files/*.lock.json"))
PART = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,8}", fullmatch=True)
ARTIFACT = st.builds(_lock.Artifact, PART, PART, PART, st.one_of(st.just(""), PART))
SHA256 = st.from_regex(r"[0-9a-f]{64}", fullmatch=True)


def jar(artifact: _lock.Artifact, sha256: str, size: int) -> _lock.Jar:
    return _lock.Jar(artifact, artifact.file, sha256, size)


JARS = st.lists(st.builds(jar, ARTIFACT, SHA256, st.integers(0)), min_size=1, unique_by=lambda item: item.file)


@given(ARTIFACT)
def test_coordinates_read_back_as_they_were_written(artifact: _lock.Artifact) -> None:
    assert _lock.parse_artifact(str(artifact)) == artifact


@given(JARS, st.booleans())
def test_a_lock_reads_back_as_it_was_written(jars: list[_lock.Jar], transitive: bool) -> None:
    ordered = tuple(sorted(jars, key=lambda item: item.file))
    roots = tuple({item.artifact: None for item in jars})  # in their order: it decides what Maven picks
    lock = _lock.Lock("kafka", "4.3.1", transitive, roots, ordered)
    assert _lock.parse(_lock.dump(lock), "x") == lock


@pytest.mark.parametrize("text", ["a:b", "a:b:c:d:e", "a::c", "a:../b:1", "a:b:<x>", "a/b:c:1", ""])
def test_what_is_no_coordinate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not group:artifact:version"):
        _lock.parse_artifact(text)


def broken(**changes: object) -> str:
    good = {"artifact": "g:a:1", "file": "a-1.jar", "sha256": "0" * 64, "bytes": 1}
    data = {"schema": 1, "name": "kafka", "version": "1", "roots": ["g:a:1"], "jars": [good]}
    return json.dumps(dict(data, **changes))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Expecting value"),
        ("[]", "list indices"),
        ("{}", "no 'schema'"),
        (broken(schema=2), "schema is 2, this collection reads 1"),
        (broken(jars=[]), "it names no jars"),
        (broken(version="../4"), "is not a plain name"),
        (broken(roots=["g:a"]), "is not group:artifact:version"),
        (broken(jars=[{"artifact": "g:a:1", "file": "../a-1.jar", "sha256": "0" * 64, "bytes": 1}]), "file name"),
        (broken(jars=[{"artifact": "g:a:1", "file": "a-1.jar", "sha256": "0", "bytes": 1}]), "64 hexadecimal digits"),
        (broken(jars=[{"artifact": "g:a:1", "file": "a-1.jar", "sha256": "0" * 64, "bytes": 1}] * 2), "named twice"),
    ],
)
def test_a_broken_lock_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why) as caught:
        _lock.parse(text, "some.lock.json")
    assert "some.lock.json" in str(caught.value)


def test_mismatches_name_every_file_with_both_digests() -> None:
    assert _lock.mismatches({"a": "1", "b": "2", "c": "3"}, {"b": "2", "c": "9", "d": "4"}) == [
        "a: expected sha256 1, found no such file",
        "c: expected sha256 3, found 9",
        "d: expected no such file, found sha256 4",
    ]


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_the_lock_files_of_the_collection_are_canonical_and_named_by_their_content(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lock = _lock.parse(text, str(path))
    assert _lock.dump(lock) == text
    assert path.name == f"{lock.name}-{lock.version}.lock.json"
    assert set(lock.roots) <= {item.artifact for item in lock.jars}


def test_there_is_a_lock_for_every_supported_version() -> None:
    assert {path.name for path in LOCKS} >= {
        "kafka-3.9.2.lock.json",
        "kafka-4.3.1.lock.json",
        "spark-kafka-4.2.0.lock.json",
    }
