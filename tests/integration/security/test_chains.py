"""Chains of certificates as Java judges them in a handshake, and as preflight does."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.certificates import pem_certificates, reaches
from tests.support.certificates import Issued, issue

PROGRAM = Path(__file__).resolve().parents[2] / "support" / "ChainVerdicts.java"
Chains = dict[str, tuple[list[Issued], list[Issued]]]


def chains() -> Chains:
    """By name what a node shows and what is trusted: a root and CAs below it, each with a path length or none."""
    found: Chains = {}
    lengths = (None, 0, 1)
    for top, upper, lower in itertools.product(lengths, repeat=3):
        root = issue("root", ca=True, path_length=top)
        first = issue("first", by=root, ca=True, path_length=upper)
        second = issue("second", by=first, ca=True, path_length=lower)
        # A CA that has renewed its key by itself has the name of its issuer, and does not count.
        renewed = issue("first", by=first, ca=True, path_length=lower)
        leaf = issue("leaf", by=second)
        found.update(
            {
                f"{top} {upper} {lower} {name}": chain
                for name, chain in {
                    "long": ([leaf, second, first], [root]),
                    "with its root": ([leaf, second, first, root], [root]),
                    "first is trusted": ([leaf, second, first], [first]),
                    "short": ([issue("leaf", by=first), first], [root]),
                    "CA at the end": ([second, first], [root]),
                    "renewed": ([issue("leaf", by=renewed), renewed, first], [root]),
                }.items()
            }
        )
    return found


def test_a_chain_is_taken_as_java_takes_it(tmp_path: Path) -> None:
    ours = {}
    for name, (chain, trusted) in chains().items():
        texts = ["".join(one.pem().decode() for one in some) for some in (chain, trusted)]
        (tmp_path / f"{name}.chain").write_text(texts[0])
        (tmp_path / f"{name}.trust").write_text(texts[1])
        ours[name] = reaches(*map(pem_certificates, texts))
    command = ["java", str(PROGRAM), str(tmp_path)]
    told = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    verdicts = dict(line.split("\t") for line in told.stdout.splitlines())
    assert {name for name, why in verdicts.items() if not why} == {name for name, taken in ours.items() if taken}
    refused = {why for why in verdicts.values() if why}
    assert refused
    assert all("pathLenConstraint violated" in why for why in refused)
