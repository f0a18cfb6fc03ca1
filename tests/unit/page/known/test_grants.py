"""What a poll keeps of users, ACLs and quotas, and what it says of those that a cluster does not tell."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import Binding
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    ClusterUnreachableError,
    RequestFailedError,
)
from page.known.grants import acl_rows, quota_rows, user_rows, why_not


def failed(code: str, why: str = "words of Kafka") -> RequestFailedError:
    """A request that ended so."""
    return RequestFailedError("describe", "ACLs", code, why)


def test_rows_are_in_the_order_of_names_and_a_default_is_no_name() -> None:
    assert user_rows({"b": {"SCRAM-SHA-512": 8192, "SCRAM-SHA-256": 4096}, "a": {}}) == [
        {"name": "a", "mechanisms": {}},
        {"name": "b", "mechanisms": {"SCRAM-SHA-256": 4096, "SCRAM-SHA-512": 8192}},
    ]
    one = Binding("User:b", "*", "allow", "read", "topic", "orders", "literal")
    rows = acl_rows([one, one._replace(principal="User:a")])
    assert [(row["principal"], row["resource"]) for row in rows] == [("User:a", "orders"), ("User:b", "orders")]
    quotas = {(("user", "<default>"),): {"b": 1.0, "a": 2.0}, (("user", None),): {"a": 3.0}}
    assert quota_rows(quotas) == [
        {"entity": [{"type": "user", "name": None}], "limits": {"a": 3.0}},
        {"entity": [{"type": "user", "name": "<default>"}], "limits": {"a": 2.0, "b": 1.0}},
    ]


@pytest.mark.parametrize(
    ("what", "error", "said"),
    [("acls", failed("SECURITY_DISABLED"), ["no authorizer", "Next step: set kafka_authorizer: true"]),
     ("users", failed("UNSUPPORTED_VERSION"), ["older than Kafka 2.7", "Next step: upgrade"]),
     ("quotas", failed("CLUSTER_AUTHORIZATION_FAILED", "no right. Fix: grant it"), ["no right. Fix: grant it"]),
     ("acls", failed("POLL_TIMEOUT", "Raise poll_timeout"), ["Raise poll_timeout"]),
     ("acls", failed("REQUEST_TIMED_OUT"), ["words of Kafka", "Next step: look again"]),
     ("users", ClusterUnreachableError({"kafka1:9092": "refused"}), ["refused", "Next step: look again"])],
)  # fmt: skip
def test_what_was_not_told_says_why_and_the_next_step(what: str, error: RequestFailedError, said: list[str]) -> None:
    text = why_not(what, error)
    assert text.endswith((".", "it)"))
    for one in said:
        assert one in text
    assert ("Fix" in text or "Raise" in text) != ("Next step" in text)
