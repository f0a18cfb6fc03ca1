"""Limits in Kafka's messages."""

from __future__ import annotations

from types import SimpleNamespace

from ansible_collections.streamops.kafka.plugins.module_utils._quotas.api import quotas_of
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.plan import label


def test_answers_of_kafka_are_read_whatever_the_order_of_their_kinds() -> None:
    entity = [SimpleNamespace(entity_type="client-id", entity_name=None)]
    entity.append(SimpleNamespace(entity_type="user", entity_name="alice"))
    entry = SimpleNamespace(entity=entity, values=[SimpleNamespace(key="producer_byte_rate", value=1.0)])
    found = quotas_of([entry])
    assert found == {(("user", "alice"), ("client-id", None)): {"producer_byte_rate": 1.0}}
    assert label(next(iter(found))) == "user alice, client-id <default>"
    assert quotas_of(None) == {}
