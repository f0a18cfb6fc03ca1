# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a cluster can be asked and told about who may do what, and how much: SCRAM credentials, ACLs, quotas.

Where a call has C(at), it asks that broker for its own view; without it any one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import Binding
from ansible_collections.streamops.kafka.plugins.module_utils._acls.plan import EVERYTHING, bindings_of, fields_of
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Libraries
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.plan import Entity, entity_of, quotas_of
from ansible_collections.streamops.kafka.plugins.module_utils._users.plan import MECHANISMS, Key, credentials_of


class AccessCalls(Libraries):
    """The calls about users, ACLs and quotas."""

    def credentials(self, at: int | None = None) -> dict[str, dict[str, int]]:
        """The SCRAM credentials of the cluster: user, mechanism, iterations."""
        from kafka.protocol.admin import DescribeUserScramCredentialsRequest

        # An empty list means everybody. Without a list a broker gives no answer to somebody who has no right to ask.
        answer = self._send("describe SCRAM credentials", DescribeUserScramCredentialsRequest(users=[]), at)
        return credentials_of(self._sound(answer, "describe SCRAM credentials").results)

    def alter_credentials(
        self, upserts: Iterable[tuple[str, str, int, bytes, bytes]], deletions: Iterable[Key]
    ) -> dict[str, Any]:
        """Set (user, mechanism, iterations, salt, salted password), or delete; per user None or (error name, why)."""
        from kafka.protocol.admin import AlterUserScramCredentialsRequest

        request = AlterUserScramCredentialsRequest(
            deletions=[(name, MECHANISMS[mechanism]) for name, mechanism in deletions],
            upsertions=[(name, MECHANISMS[mechanism], *rest) for name, mechanism, *rest in upserts],
        )
        answer = self._send_to_controller(what := "alter SCRAM credentials", request)
        return {result.user: self._outcome(what, result) for result in answer.results}

    def acls(self, at: int | None = None) -> dict[Binding, None]:
        """Every ACL binding of the cluster."""
        from kafka.protocol.admin import DescribeAclsRequest

        answer = self._send("describe ACLs", DescribeAclsRequest(**EVERYTHING), at)
        return bindings_of(self._sound(answer, "describe ACLs").resources)

    def create_acls(self, bindings: Sequence[Binding]) -> dict[Binding, Any]:
        """Create bindings in one request; per binding None or (Kafka's error name, why)."""
        from kafka.protocol.admin import CreateAclsRequest

        results = self._send("create ACLs", CreateAclsRequest(creations=fields_of(bindings))).results
        return {binding: self._outcome("create ACLs", results[number]) for number, binding in enumerate(bindings)}

    def delete_acls(self, bindings: Sequence[Binding]) -> dict[Binding, Any]:
        """Delete exactly these bindings in one request; per binding None or (Kafka's error name, why)."""
        from kafka.protocol.admin import DeleteAclsRequest

        results = self._send("delete ACLs", DeleteAclsRequest(filters=fields_of(bindings))).filter_results
        return {binding: self._outcome("delete ACLs", results[number]) for number, binding in enumerate(bindings)}

    def quotas(self, at: int | None = None) -> dict[Entity, dict[str, float]]:
        """The limits of every entity that has some."""
        from kafka.protocol.admin import DescribeClientQuotasRequest

        answer = self._send("describe quotas", DescribeClientQuotasRequest(components=[], strict=False), at)
        return quotas_of(self._sound(answer, "describe quotas").entries)

    def alter_quotas(
        self, changes: Mapping[Entity, Mapping[str, float | None]], validate_only: bool = False
    ) -> dict[Entity, Any]:
        """Set these limits (None takes one away); per entity None or (Kafka's error name, why)."""
        from kafka.protocol.admin import AlterClientQuotasRequest

        ops = {entity: [(k, v or 0.0, v is None) for k, v in limits.items()] for entity, limits in changes.items()}
        altered = [(list(entity), wanted) for entity, wanted in ops.items()]
        request = AlterClientQuotasRequest(entries=altered, validate_only=validate_only)
        entries = self._send(what := "alter quotas", request).entries
        return {entity_of(one.entity): self._outcome(what, one) for one in entries}
