# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""ACLs, the deciding half: bindings as they are and as wanted become a plan, or a list of all reasons against it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import Binding
from ansible_collections.streamops.kafka.plugins.module_utils._core.diff import Change

#: Bindings in one request. A controller takes 10,000 records; a removal compares each filter with every binding.
ADD_BATCH, REMOVE_BATCH = 2_000, 500


@dataclass(frozen=True)
class AclPlan:
    """What has to be done, or C(violations), in which case nothing may be."""

    add: tuple[Binding, ...] = ()
    remove: tuple[Binding, ...] = ()
    unchanged: int = 0
    violations: tuple[str, ...] = ()

    @property
    def changes(self) -> Iterator[Change]:
        """From and to of each binding."""
        for binding in self.remove:
            yield Change(str(binding), binding._asdict(), None)
        for binding in self.add:
            yield Change(str(binding), None, binding._asdict())


def only(plan: AclPlan, done: Collection[Binding]) -> AclPlan:
    """The part of a plan that was done."""
    some = set(done)
    return replace(plan, add=tuple(b for b in plan.add if b in some), remove=tuple(b for b in plan.remove if b in some))


def plan_acls(
    state: Collection[Binding],
    present: Collection[Binding],
    absent: Collection[Binding],
    authoritative: bool = False,
    scope: Sequence[str] = (),
    own: str | None = None,
) -> AclPlan:
    """Compare the bindings of a cluster with those wanted and those wanted away.

    C(authoritative) removes every binding that is not wanted, of the principals in C(scope) only if there are any.
    C(own) is the principal that asks, if it is known.
    """
    found, named = set(state), {*present, *absent}
    add = [binding for binding in present if binding not in found]
    remove = [binding for binding in absent if binding in found]
    violations: list[str] = []
    if authoritative:
        extra = [b for b in state if b not in named and (not scope or b.principal in scope)]
        violations += _authoritative_violations(extra, present, scope, own)
        remove += sorted(extra)
    return AclPlan(tuple(add), tuple(remove), unchanged=len(present) - len(add), violations=tuple(violations))


def _authoritative_violations(
    extra: Sequence[Binding], present: Collection[Binding], scope: Sequence[str], own: str | None
) -> Iterator[str]:
    if extra and not present and not scope:
        yield (
            f"acls: the list wants none and authoritative would remove all {len(extra)} bindings of the cluster. "
            "Most likely a variable is empty; name the principals in authoritative_for to mean it."
        )
    for binding in extra:
        if binding.permission == "allow" and binding.operation in {"cluster_action", "all"}:
            if binding.resource_type == "cluster":
                yield (
                    f"acl {binding}: brokers may replicate by it, and authoritative would remove it. "
                    "List it, or take it away by an entry with state: absent."
                )
        elif binding.principal == own and binding.resource_type == "cluster" and binding.operation == "alter":
            yield (
                f"acl {binding}: this run itself may change ACLs by it, and authoritative would remove it. "
                "List it, or take it away by an entry with state: absent."
            )
