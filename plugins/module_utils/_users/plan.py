# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""SCRAM users, the deciding half: credentials as they are and as wanted become a plan. No secret leaves a spec."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._core.bulk import parts
from .._core.diff import Change
from .._core.names import STRAY_FIX, stray

#: Kafka's number of each mechanism in requests (org.apache.kafka.clients.admin.ScramMechanism).
MECHANISMS = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
#: Kafka takes 4096 to 16384; ours is the lower bound of the security controls of this collection.
MIN_ITERATIONS, MAX_ITERATIONS = 8192, 16384
#: What a login with the wanted password said; UNTRIED: it could not be tried.
ACCEPTED, REFUSED, UNTRIED = "accepted", "refused", "untried"
#: user -> mechanism -> iterations, as Kafka tells them.
Credentials = Mapping[str, Mapping[str, int]]
#: A user's name and a mechanism.
Key = tuple[str, str]


@dataclass(frozen=True)
class DesiredUser:
    """A credential as wanted. The password never shows in C(repr).

    absent -- the user loses all credentials; update_password -- what is done to a credential that exists, by the words
    of the module's option
    """

    name: str
    mechanism: str = "SCRAM-SHA-512"
    iterations: int = MIN_ITERATIONS
    password: str = field(default="", repr=False)
    absent: bool = False
    update_password: str = "when_different"

    @property
    def key(self) -> Key:
        """The name and the mechanism, by which Kafka keeps credentials."""
        return self.name, self.mechanism


@dataclass(frozen=True)
class UserPlan:
    """What has to be done: first C(upserts), then C(deletions); C(unproven) names users whose login was not tried."""

    upserts: tuple[DesiredUser, ...] = ()
    deletions: tuple[Key, ...] = ()
    changes: tuple[Change, ...] = ()
    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: int = 0
    unproven: tuple[str, ...] = ()
    violations: tuple[str, ...] = ()


def parse_specs(
    items: Sequence[Mapping[str, Any]], update_password: str = "when_different"
) -> tuple[list[DesiredUser], list[str]]:
    """Return the specs of a list of entries as the module takes them, and everything that is wrong with it.

    C(update_password) holds for entries without their own.
    """
    specs = [
        DesiredUser(
            name=str(item.get("name") or ""),
            mechanism=str(item.get("mechanism") or "SCRAM-SHA-512"),
            iterations=MIN_ITERATIONS if item.get("iterations") is None else item["iterations"],
            password=item.get("password") or "",
            absent=item.get("state") == "absent",
            update_password=item.get("update_password") or update_password,
        )
        for item in items
    ]
    violations = [line for spec in specs for line in _spec_violations(spec)]
    return specs, violations + list(_list_violations(specs))


def _spec_violations(spec: DesiredUser) -> Iterator[str]:
    who = f"user {spec.name.strip()}"
    if not spec.name.strip():
        yield "user '': the name is empty. Give it a name."
    if spec.mechanism not in MECHANISMS:
        yield f"{who}: mechanism is {spec.mechanism}; {' and '.join(MECHANISMS)} are allowed."
    if spec.absent:
        return  # One that came in with such a name must be let out.
    if wrong := stray(spec.name):
        yield f"user {spec.name.strip()!r}: the name {wrong}: {STRAY_FIX}."
    # org.apache.kafka.common.security.scram.internals.ScramMessages: SASLNAME. Passwords may be of any script.
    if not spec.name.isascii():
        yield f"{who}: the name has characters outside of ASCII, and Kafka refuses its logins by SCRAM. Rename it."
    if not isinstance(spec.iterations, int) or not MIN_ITERATIONS <= spec.iterations <= MAX_ITERATIONS:
        yield (
            f"{who}: iterations is {spec.iterations}; {MIN_ITERATIONS} to {MAX_ITERATIONS} are allowed "
            "(Kafka's own bounds are 4096 to 16384)."
        )
    if not spec.password:
        yield f"{who}: the password is missing or empty. Set it, best from a vault variable."
    if wrong := stray(spec.password):
        yield f"{who}: the password {wrong}: {STRAY_FIX}."


def _list_violations(specs: Sequence[DesiredUser]) -> Iterator[str]:
    absent = {spec.name for spec in specs if spec.absent}
    for (name, mechanism), count in Counter(spec.key for spec in specs if not spec.absent).items():
        if count > 1:
            yield f"user {name}: named {count} times with {mechanism}; one entry each is allowed. Keep one."
        if name in absent:
            yield f"user {name}: wanted both present and absent. Keep one entry."
            absent.discard(name)
    for name, count in Counter(spec.name for spec in specs if spec.absent).items():
        if count > 1:
            yield f"user {name}: named {count} times as absent; once is enough, it takes all mechanisms."


def to_prove(state: Credentials, specs: Sequence[DesiredUser]) -> list[DesiredUser]:
    """Return the specs whose password has to be tried by a login, because all that Kafka tells of them is as wanted."""
    return [
        spec
        for spec in specs
        if not spec.absent
        and spec.update_password == "when_different"
        and state.get(spec.name, {}).get(spec.mechanism) == spec.iterations
    ]


def plan_users(
    state: Credentials,
    specs: Sequence[DesiredUser],
    logins: Mapping[Key, str],
    own: Key | None = None,
) -> UserPlan:
    """Compare credentials with the specs.

    C(logins) holds what a login said for each of C(to_prove). C(own) is who asks, and is never taken away. A user of
    the list has the credentials of the list and no others, so that no old password stays valid by another mechanism.
    """
    wanted = {spec.key for spec in specs if not spec.absent}
    listed = {spec.name: spec.absent for spec in specs}
    upserts = [spec for spec in specs if not spec.absent and _differs(state, spec, logins)]
    deletions = [
        (name, mechanism) for name in listed for mechanism in state.get(name, {}) if (name, mechanism) not in wanted
    ]
    changes = {change.name: change for change in changes_of(state, upserts, deletions, logins)}
    # What a plan says of a user: gone, new, or other than before.
    deleted = [name for name in changes if listed[name]]
    created = [name for name in changes if not state.get(name)]
    updated = [name for name in changes if name not in {*deleted, *created}]
    lost = [f"{name} by {mechanism}" for name, mechanism in deletions if (name, mechanism) == own]
    return UserPlan(
        upserts=tuple(upserts),
        deletions=tuple(deletions),
        changes=tuple(changes.values()),
        created=tuple(created),
        updated=tuple(updated),
        deleted=tuple(deleted),
        unchanged=len(listed) - len(changes),
        unproven=tuple(sorted({name for (name, _mechanism), said in logins.items() if said == UNTRIED})),
        violations=tuple(
            f"user {who}: is who this run itself is logged in as; it would lock itself out. "
            "Run as another administrator to take this one away."
            for who in lost
        ),
    )


def changes_of(
    state: Credentials, upserts: Sequence[DesiredUser], deletions: Sequence[Key], logins: Mapping[Key, str]
) -> list[Change]:
    """From and to of each user whose credentials are set or deleted so."""
    names = [spec.name for spec in upserts] + [name for name, _mechanism in deletions]
    return [_change(name, state, upserts, deletions, logins) for name in dict.fromkeys(names)]


def requests(keys: Iterable[Key], most: int) -> Iterator[list[Key]]:
    """Cut credentials into requests of at most C(most) in which no user is named twice (order of each user is kept).

    Kafka refuses all credentials of a user that one request names more than once (DUPLICATE_RESOURCE).
    """
    rounds: list[list[Key]] = []
    seen: Counter[str] = Counter()
    for key in keys:
        if seen[key[0]] == len(rounds):
            rounds.append([])
        rounds[seen[key[0]]].append(key)
        seen[key[0]] += 1
    for once in rounds:
        yield from parts(once, most)


def _differs(state: Credentials, spec: DesiredUser, logins: Mapping[Key, str]) -> bool:
    found = state.get(spec.name, {}).get(spec.mechanism)
    if found is None or spec.update_password == "always":
        return True
    if spec.update_password == "on_create":
        return False
    return found != spec.iterations or logins.get(spec.key) == REFUSED


def _change(
    name: str, state: Credentials, upserts: Sequence[DesiredUser], deletions: Sequence[Key], logins: Mapping[Key, str]
) -> Change:
    before: dict[str, Any] = {
        mechanism: {"iterations": state[name][mechanism]} for who, mechanism in deletions if who == name
    }
    after: dict[str, Any] = {}
    for spec in (spec for spec in upserts if spec.name == name):
        found = state.get(name, {}).get(spec.mechanism)
        after[spec.mechanism] = {"iterations": spec.iterations, "password": "(as given)"}
        if found is not None:
            known = "(another one)" if logins.get(spec.key) == REFUSED else "(not shown)"
            before[spec.mechanism] = {"iterations": found, "password": known}
    return Change(name, before or None, after or None)
