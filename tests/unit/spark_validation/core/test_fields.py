# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report may show of client properties; the collection's modules hold the same to be secret."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.module_utils._core import properties
from ansible_collections.streamops.kafka.plugins.module_utils._spark.job import split_secrets
from spark_validation.core import fields
from tests.support.secret_names import PUBLIC, SECRET


def test_secrets_are_masked_and_others_are_shown() -> None:
    shown = fields.masked(dict.fromkeys((*SECRET, *PUBLIC), "planted"))
    assert {name for name, value in shown.items() if value == "planted"} == set(PUBLIC)


def test_the_module_hands_over_as_secret_what_the_report_masks() -> None:
    plain, secret = split_secrets(dict.fromkeys((*SECRET, *PUBLIC), "planted"))
    assert (set(plain), set(secret)) == (set(PUBLIC), set(SECRET))


def test_package_and_collection_which_share_no_code_have_one_rule() -> None:
    one, other = fields.SECRET_NAME, properties.SECRET_NAME
    assert (one.pattern, one.flags) == (other.pattern, other.flags)
