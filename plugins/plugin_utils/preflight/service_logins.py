# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Judge how a service (mirrors, the canary, the page) logs in at a cluster. Messages never show a password."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils._client.login import TICKETS, chosen
from ...module_utils._users.plan import MECHANISMS
from ..inventory.model import Cluster, Listener, Node
from ..inventory.oauth import MECHANISM as TOKENS
from ..inventory.variables import UNDEFINED
from .by_value import dicts
from .rule import Problem

_OFFERED = "kafka_sasl_mechanisms"
#: What the rules of all services allow.
NO_SUPER_USER = "a name of neither a node, the administrator nor kafka_super_users"
KNOWN_MECHANISMS = " or ".join((*MECHANISMS, TOKENS, TICKETS))


@dataclass(frozen=True)
class ServiceLogin:
    """The user of a service; C(prefix) is that of its variables, C(who) what messages call it."""

    who: str
    prefix: str

    @property
    def user(self) -> str:
        """Return the variable with its name."""
        return f"{self.prefix}_user"

    @property
    def password(self) -> str:
        """Return the variable with its password."""
        return f"{self.prefix}_password"

    @property
    def keytab_file(self) -> str:
        """Return the variable with its keytab, which it has instead of a password where it logs in by Kerberos."""
        return f"{self.prefix}_keytab_file"

    def find_empty(self, asking: Iterable[tuple[Cluster, Listener]]) -> Iterator[Problem]:
        """Yield each variable that is empty where a listener asks for a login."""
        for cluster, listener in asking:
            node = cluster.brokers[0]
            shown = self.keytab_file if chosen(node.names(_OFFERED)) == TICKETS else self.password
            for variable in (self.user, shown):
                if not _is_unknown(node, variable) and not node.text(variable):
                    what = f"{self.who} cannot log in at listener {listener.name}"
                    yield Problem(cluster, what, "an empty value", variable=variable)

    def find_super_user(self, clusters: Iterable[Cluster]) -> Iterator[Problem]:
        """Yield the clusters in which the user may do everything."""
        for cluster in clusters:
            user = cluster.brokers[0].text(self.user)
            if user and user in cluster.super_users(cluster.brokers[0]):
                yield Problem(cluster, f"{self.who} would have the rights of a super user", user)

    def find_other_entries(self, clusters: Iterable[Cluster], beside: Iterable[ServiceLogin] = ()) -> Iterator[Problem]:
        """Yield each list that has the user with another password or absent; C(beside) are logins that count too.

        C(kafka_users) are credentials of SCRAM: where no listener offers that, the user has no login by them. With
        Kerberos first the service shows no password.
        """
        others = tuple(beside)
        for cluster in clusters:
            node = cluster.brokers[0]
            user, password = node.text(self.user), node.variables.get(self.password)
            lists = ("kafka_users", "kafka_plain_users") if offers_scram(node) else ("kafka_plain_users",)
            listed = [(name, entry) for name in lists for entry in dicts(node, name)]
            listed += [(other.password, other._as_entry(node)) for other in others if node.text(other.password)]
            shows_password = password is not UNDEFINED and chosen(node.names(_OFFERED)) != TICKETS
            for variable, entry in listed if user and shows_password else ():
                if str(entry.get("name")) != user or entry.get("password") is UNDEFINED:
                    continue
                absent = entry.get("state") == "absent"
                if absent or str(entry.get("password")) != str(password):
                    what = f"{self.user} is also listed here, with another password or state"
                    listed_as = f"{user} with {'state absent' if absent else 'another password'}"
                    yield Problem(cluster, what, listed_as, variable=variable)

    def find_no_mechanism(self, asking: Iterable[tuple[Cluster, Listener]]) -> Iterator[Problem]:
        """Yield the listeners whose first mechanism, by which services log in, does not take the user."""
        for cluster, listener in asking:
            node = cluster.brokers[0]
            first, user = chosen(node.names(_OFFERED)), node.text(self.user)
            if _is_unknown(node, _OFFERED) or first in (*MECHANISMS, TOKENS, TICKETS):
                continue
            plain = [str(entry.get("name")) for entry in dicts(node, "kafka_plain_users")]
            if first != "PLAIN" or (user and user not in plain):
                what = f"{self.who} cannot log in at listener {listener.name} by this mechanism"
                yield Problem(cluster, what, first or "no mechanism")

    def _as_entry(self, node: Node) -> Mapping[str, Any]:
        """Return the user as an entry of a list of users."""
        return {"name": node.text(self.user), "password": node.variables.get(self.password)}


MIRRORS = ServiceLogin("mirrors", "mirror")
CANARY = ServiceLogin("the canary", "mirror_canary")
PAGE = ServiceLogin("the page", "kafka_page")
SPARK = ServiceLogin("the Spark job", "spark_validation")
#: Each logs in by Kerberos with a keytab of its own.
SERVICES = (MIRRORS, CANARY, PAGE, SPARK)


def offers_scram(node: Node) -> bool:
    """Tell whether clients log in by SCRAM, with the credentials of C(kafka_users), or that is not known."""
    return _is_unknown(node, _OFFERED) or not {*MECHANISMS}.isdisjoint(node.names(_OFFERED))


def _is_unknown(node: Node, variable: str) -> bool:
    """Tell whether a value is made at run time, so that nothing can be said of it."""
    return node.variables.get(variable) is UNDEFINED
