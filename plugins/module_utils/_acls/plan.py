# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""ACLs, the deciding half: bindings as they are and as wanted become a plan, or a list of all reasons against it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._core.diff import Change
from .._core.names import capped
from .._features.levels import METADATA, shown
from .._state.form import parsed
from .entries import Binding
from .hosts import ANYWHERE, NETWORKS_LEVEL, covers, is_network

#: The name of the principal that everybody is.
EVERYBODY = "User:*"
#: What a run needs on the cluster to read and to change ACLs.
_CHANGES = {"alter", "all"}
_RIGHTS = {"describe", *_CHANGES}
#: So begin the keys of the state of a cluster with the denials that failovers under way have made there, by principal
#: the topics. They stand where the ACLs are: whoever changes these need not reach the other cluster of a failover. Each
#: flow has its own (denials_key), as two failovers of one source would overwrite a common one. Older releases kept all
#: of them at this key itself, by flow.
KEPT = "denials of failovers"
#: Hosts that one sentence names.
_NAMED = 10
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
    kept: Collection[Binding] = (),
) -> AclPlan:
    """Compare the bindings of a cluster with those wanted and those wanted away.

    C(authoritative) removes every binding that is not wanted, of the principals in C(scope) only if there are any.
    C(own) is the principal that asks, None where it is not known: then it may be anybody. C(kept) are bindings that
    C(authoritative) leaves, since an operation that is under way has made them.
    A network is known in every spelling that is in Kafka.
    """
    found, unwanted = {binding.meaning for binding in state}, set(absent)
    named = {*present, *unwanted}
    add = [binding for binding in present if binding not in found]
    remove = [binding for binding in state if binding.meaning in unwanted]
    violations = list(_denial_violations(add, [b for b in state if b.meaning not in unwanted], own))
    if authoritative:
        extra = [b for b in state if b.meaning not in named and b not in kept and (not scope or b.principal in scope)]
        violations += _authoritative_violations(extra, present, scope, own)
        remove += sorted(extra)
    return AclPlan(tuple(add), tuple(remove), unchanged=len(present) - len(add), violations=tuple(violations))


def denials_key(pair: str) -> str:
    """Return the key with the denials of the failover by a flow (source->target)."""
    return f"{KEPT} {pair}"


def denials_of(values: Mapping[str, Any]) -> dict[str, dict[str, list[str]]]:
    """Return by flow (source->target) and principal the topics that it may not write.

    values -- what is kept at the keys that begin with KEPT. Raises UnknownFormError for a value of another form.
    """
    before, writer = denials_key(""), "took the last step of a failover"
    older = parsed(KEPT, values.get(KEPT), _flows_of, writer)
    own = {
        key.removeprefix(before): parsed(key, value, _topics_of, writer)
        for key, value in values.items()
        if key.startswith(before)
    }
    return {**older, **own}


def _flows_of(data: Any) -> dict[str, dict[str, list[str]]]:
    return {} if data is None else {pair: _topics_of(principals) for pair, principals in data.items()}


def _topics_of(data: Any) -> dict[str, list[str]]:
    for topics in data.values():
        if not isinstance(topics, list) or not all(isinstance(topic, str) for topic in topics):
            raise TypeError(f"{topics!r} is no list of topics")
    return dict(data)


def write_denial(principal: str, topic: str) -> Binding:
    """Return the binding by which a failover keeps a principal from writing a topic."""
    return Binding(principal, ANYWHERE, "deny", "write", "topic", topic, "literal")


def kept_denials(kept: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[Binding, str]:
    """Return the denials of failovers, each with the flow (source->target) that needs it. kept -- as of denials_of."""
    return {
        write_denial(principal, topic): pair
        for pair, principals in kept.items()
        for principal, topics in principals.items()
        for topic in topics
    }


def denied_topics(denied: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return by principal the topics that a failover denies it to write, as they are kept at denials_key."""
    topics: dict[str, list[str]] = {}
    for principal, topic in sorted(denied):
        topics.setdefault(principal, []).append(topic)
    return topics


def network_violations(present: Collection[Binding], features: Mapping[str, int] | None) -> Iterator[str]:
    """Yield why a cluster with these levels of features does not take the networks of a list; None: it has none.

    An older Kafka compares a network letter by letter with addresses (before 4.4 it even stores it), so the ACL would
    never hold.
    """
    networks = list(dict.fromkeys(binding.host for binding in present if is_network(binding.host)))
    if not networks:
        return
    named = f"acl host {capped(networks, _NAMED)}: "
    if features is None:
        yield (
            f"{named}this cluster compares single addresses only: it has no metadata.version, as in mode zookeeper. "
            "Write an entry for each address."
        )
    elif features.get(METADATA, 0) < NETWORKS_LEVEL:
        yield (
            f"{named}this cluster compares single addresses only: networks need metadata.version "
            f"{shown(METADATA, NETWORKS_LEVEL)}, and it has {shown(METADATA, features.get(METADATA, 0))}. Upgrade all "
            "nodes to Kafka 4.4 or later, then raise it by upgrade.yml with kafka_upgrade=finalize or by the module "
            "features. Or write an entry for each address."
        )


def _authoritative_violations(
    extra: Sequence[Binding], present: Collection[Binding], scope: Sequence[str], own: str | None
) -> Iterator[str]:
    if extra and not present and not scope:
        yield (
            f"acls: the list wants none and authoritative would remove all {len(extra)} bindings of the cluster. "
            "Most likely a variable is empty; name the principals in authoritative_for to mean it."
        )
    for binding in extra:
        why = _why_kept(binding, present, scope, own)
        if why:
            yield (
                f"acl {binding}: {why}, and authoritative would remove it. "
                "fix: list it, or remove it by an entry with state: absent."
            )


def _why_kept(binding: Binding, present: Collection[Binding], scope: Sequence[str], own: str | None) -> str:
    """Say why authoritative alone must not remove a binding; empty where it may."""
    if binding.permission != "allow" or binding.resource_type != "cluster":
        return ""
    if binding.operation in {"cluster_action", "all"}:
        return "brokers may replicate by it"
    if binding.operation != "alter" or _replaced(binding, present):
        return ""
    if binding.principal == own or (binding.principal == EVERYBODY and own is not None):
        return "this run itself may change ACLs by it"
    # Who is named in authoritative_for is meant.
    if own is None and not scope:
        return "this run, of which only the brokers know the principal, may change ACLs by it"
    return ""


def _replaced(binding: Binding, present: Collection[Binding]) -> bool:
    """Return whether the list gives the same principal the right to change ACLs from at least the same host."""
    return any(
        _on_cluster(one, "allow", _CHANGES)
        and one.principal in {binding.principal, EVERYBODY}
        and covers(one.host, binding.host)
        for one in present
    )


def _denial_violations(add: Collection[Binding], kept: Collection[Binding], own: str | None) -> Iterator[str]:
    """New denials by which this run could not change ACLs any more. A denial wins over whatever allows.

    Of everybody, and of a principal that may be that of this run, it is refused where an ACL that stays shows that the
    right comes from ACLs: who has it without any is a super user, whom nothing is denied.
    """
    used = {
        b.principal
        for b in kept
        if _on_cluster(b, "allow", _CHANGES) and (own is None or b.principal in {own, EVERYBODY})
    }
    for binding in add:
        if not _on_cluster(binding, "deny", _RIGHTS):
            continue
        everybody = binding.principal == EVERYBODY and used
        may_be_own = own is None and used & {binding.principal, EVERYBODY}
        if binding.principal == own or everybody or may_be_own:
            who = "this run itself" if own is not None else "this run, of which only the brokers know the principal,"
            yield (
                f"acl {binding}: {who} could not change ACLs any more. "
                "fix: deny less, or run as a super user that has no alter on the cluster by an ACL."
            )


def _on_cluster(binding: Binding, permission: str, operations: Collection[str]) -> bool:
    """Return whether a binding allows or denies one of these operations on the cluster."""
    return (binding.permission, binding.resource_type) == (permission, "cluster") and binding.operation in operations
