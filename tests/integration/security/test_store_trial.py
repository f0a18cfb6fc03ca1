# SPDX-License-Identifier: GPL-3.0-or-later
"""Stores of a node, loaded by its Java and Kafka before any of them is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.certificate_files import rsa_pss, with_an_older_root
from tests.support.certificates import Issued, issue
from tests.support.forms import short
from tests.support.trials import try_files

PROPERTIES = """\
ssl.keystore.type=PEM
ssl.keystore.location={place}/keystore.pem
ssl.truststore.type=PEM
ssl.truststore.location={place}/truststore.pem
ssl.enabled.protocols=TLSv1.3
ssl.protocol=TLSv1.3
ssl.endpoint.identification.algorithm=https
ssl.principal.mapping.rules=DEFAULT
"""


def tried(release: Path, place: Path, keystore: bytes, truststore: bytes) -> dict[str, Any]:
    """Return what a trial says of these stores, of a node whose other files are there already."""
    arguments, properties = f"-Xmx128m\n-cp\n{release}/libs/*\n", PROPERTIES.format(place=place)
    files = {"jvm_options": arguments, "properties": properties}
    for name, content in files.items():
        (place / name).write_text(content)
    stores = {"keystore": keystore, "truststore": truststore}
    return try_files(
        name="kafka1",
        **{name: {"path": str(place / name), "content": content} for name, content in files.items()},
        stores={name: {"path": f"{place}/{name}.pem", "content": content.decode()} for name, content in stores.items()},
    )


def of(leaf: Issued, *above: Issued) -> bytes:
    return leaf.key_pem() + b"".join(one.pem() for one in (leaf, *above))


@pytest.mark.parametrize("version", short(["4.3.1", "3.9.2"], "4.3.1"))
def test_only_stores_that_the_node_can_start_with_pass(
    version: str, tmp_path: Path, kafka_release: Callable[[str], Path]
) -> None:
    release, root = kafka_release(version), issue("root", ca=True)
    between = issue("between", by=root, ca=True)
    good = of(issue("kafka1", by=between, names=("10.0.0.1",)), between)
    fine = tried(release, tmp_path, good, root.pem())
    assert (fine["failed"], fine.get("judged")) == (False, True), fine
    certificate, key, ca = with_an_older_root()
    other = issue("other", ca=True)
    (tmp_path / "pss").mkdir()
    pss = rsa_pss("kafka1", root, "IP:10.0.0.1", tmp_path / "pss")
    for keystore, truststore, words in (
        (key + certificate, ca, "Certificate chain is not valid"),
        (b"".join(path.read_bytes() for path in pss), root.pem(), "got RSASSA-PSS"),
        (good, other.pem(), "unable to find valid certification path"),
        (good, issue("other", ca=None).pem() + b"\n", "certification path"),
        (good.replace(b"BEGIN PRIVATE", b"BEGIN THE").replace(b"END PRIVATE", b"END THE"), root.pem(), "PRIVATE KEY"),
    ):
        refused = tried(release, tmp_path, keystore, truststore)
        assert refused["failed"], words
        assert words in refused["msg"], refused["msg"]
        assert "This step changed nothing on the node." in refused["msg"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["jvm_options", "properties", "pss"]
