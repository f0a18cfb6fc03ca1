"""What of the files of a certificate a node gets."""

from __future__ import annotations

import itertools

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.pem import blocks, certificates, keys, public
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.pem_files import stored
from tests.support.certificate_files import LAYOUTS, in_order, root_first
from tests.support.certificates import issue


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_node_gets_one_key_and_each_certificate_is_issued_by_the_next_one(layout: str) -> None:
    files = dict(zip(("certificate", "key", "truststore"), LAYOUTS[layout](), strict=True))
    texts = stored(files)
    assert [label for label, _text in blocks(texts["key"].encode())] == ["PRIVATE KEY"]
    chain = certificates(texts["certificate"].encode())
    assert all(one.issuer == by.subject for one, by in itertools.pairwise(chain))
    assert len({one.fingerprint(one.signature_hash_algorithm) for one in chain}) == len(chain) >= 1
    ((_text, key),) = keys(texts["key"].encode())
    assert public(chain[0]) == public(key)
    assert [label for label, _text in blocks(texts["truststore"].encode())].count("CERTIFICATE") == len(
        certificates(files["truststore"])
    )
    # What a node gets is in order, so it stays as it is.
    assert stored({name: text.encode() for name, text in texts.items()}) == texts


def test_files_in_order_are_taken_as_they_are_with_their_comments() -> None:
    certificate, key, ca = (b"# ours\n" + content for content in in_order())
    texts = stored({"key": key, "certificate": certificate, "truststore": ca})
    assert {name: f"{text}\n".encode() for name, text in texts.items()} == {
        "key": key,
        "certificate": certificate,
        "truststore": ca,
    }


def test_a_chain_that_is_put_in_order_has_the_certificate_of_the_key_first() -> None:
    certificate, key, ca = root_first()
    first, *_others = certificates(
        stored({"key": key, "certificate": certificate, "truststore": ca})["certificate"].encode()
    )
    assert first == certificates(certificate)[-1]


def test_files_that_cannot_be_read_stay_as_they_are() -> None:
    texts = stored({"key": b"k\xfc\n", "certificate": issue("a").pem(), "truststore": b"c\n"})
    assert (texts["key"], texts["truststore"]) == ("k\ufffd", "c")
