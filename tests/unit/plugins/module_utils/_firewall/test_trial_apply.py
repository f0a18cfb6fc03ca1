"""The files of a trial: exactly one of confirming and putting back ends it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._firewall import trial_apply

# The program of the machine that loads a table: here it writes down what it was told to load.
NFT = '#!/bin/sh\n[ "$1" = --file ] && exec cp "$2" "{0}"\necho "$@" > "{0}"\n'


@pytest.fixture
def nft(tmp_path: Path) -> str:
    program = tmp_path / "nft"
    program.write_text(NFT.format(tmp_path / "loaded"))
    program.chmod(0o755)
    return str(program)


def test_without_a_directory_no_trial_runs(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    assert trial_apply.running(missing) == []
    assert trial_apply.previous(missing) is None
    assert not trial_apply.keep(missing)
    assert not trial_apply.revert("nft", missing)


def test_a_trial_ends_once(nft: str, tmp_path: Path) -> None:
    directory = tmp_path / "trial"
    trial_apply.begin(nft, str(directory), "previous\n", 60)
    assert trial_apply.previous(str(directory)) == "previous\n"
    assert trial_apply.keep(str(directory))
    assert not trial_apply.keep(str(directory))
    assert not trial_apply.revert(nft, str(directory))
    assert list(directory.iterdir()) == []
    assert not (tmp_path / "loaded").exists()


def test_a_new_trial_takes_the_place_of_an_earlier_one(nft: str, tmp_path: Path) -> None:
    for text in ("first\n", "second\n"):
        trial_apply.begin(nft, str(tmp_path / "trial"), text, 60)
    assert len(trial_apply.running(str(tmp_path / "trial"))) == 1
    assert trial_apply.revert(nft, str(tmp_path / "trial"))
    assert (tmp_path / "loaded").read_text() == "second\n"


def test_a_previous_table_that_does_not_load_is_replaced_by_none(tmp_path: Path, nft: str) -> None:
    Path(nft).write_text(f'#!/bin/sh\n[ "$1" = --file ] && exit 1\necho "$@" > "{tmp_path / "loaded"}"\n')
    trial_apply.begin(nft, str(tmp_path / "trial"), "broken\n", 60)
    trial_apply.revert(nft, str(tmp_path / "trial"))
    assert (tmp_path / "loaded").read_text() == "delete table inet streamops_kafka\n"


def test_what_comes_back_replaces_the_table_as_a_whole() -> None:
    for listing in ("", "table inet streamops_kafka {\n}\n"):
        lines = trial_apply.script(listing).splitlines()
        assert lines[:2] == ["table inet streamops_kafka", "delete table inet streamops_kafka"]
        assert "\n".join(lines[2:]) == listing.rstrip()


def test_the_scripts_of_the_shell_are_correct() -> None:
    for text in (trial_apply._BACK, trial_apply._WAIT):
        subprocess.run(["sh", "-n", "-c", text], check=True)
