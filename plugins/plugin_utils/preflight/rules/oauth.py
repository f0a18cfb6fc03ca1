# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on logins by tokens (OAUTHBEARER): whose tokens brokers take, and whether they get the issuer's keys.

Of a broker that lacks one of these Kafka says so only when it starts, or takes tokens that were made for others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ....module_utils._client.login import TOKEN_ADDRESSES, chosen, url_fault
from ...inventory.model import PLACEHOLDER, Cluster, Inventory, Node
from ...inventory.oauth import MECHANISM, TokenIssuer
from ...inventory.variables import UNDEFINED
from ...render.security import SASL_PROTOCOLS
from ...specs import role_options
from ..by_value import by_value, kind_of
from ..host import Host
from ..rule import BY_PROFILE, Problem, host_rule, rule
from .lockouts import authorizer
from .shape import faults

VARIABLE = "kafka_oauth"
_ADDRESS = "https://HOST/PATH, from a loopback address http:// too"
_ISSUER_FIX = "start the issuer, or correct its address or its CA in kafka_oauth; a broker that restarts now ends"
#: By what a listener judges tokens (render/security.token_properties); a key with the name of the mechanism wins over
#: the same one without it (ConfigurationUtils). How long a connection lasts, and how much it may send, may be tuned.
_JUDGES = re.compile(
    r"listener\.name\.[^.]+\."
    r"(oauthbearer\.sasl\.(jaas\.config|server\.callback\.handler\.class)"
    r"|(oauthbearer\.)?sasl\.oauthbearer\.(clock\.skew\.seconds|expected\.audience|expected\.issuer"
    r"|jwks\.endpoint\.url|jwt\.validator\.class|sub\.claim\.name))"
)
#: Claims that identify nobody: a user may write many of them, and two users may have the same (OpenID Connect Core 1.0,
#: sections 5.1 and 5.7).
_OF_PROFILE = (
    *("name", "given_name", "family_name", "middle_name", "nickname", "preferred_username", "email"),
    *("profile", "picture", "website", "phone_number", "gender", "birthdate", "zoneinfo", "locale"),
)


def fields_said(cluster: Cluster, variable: str) -> Iterator[tuple[dict[str, Any], list[Node]]]:
    """Yield what brokers say of a mechanism, with the brokers; fields that are made at run time are left out."""
    for value, nodes in by_value(cluster.brokers, variable):
        if isinstance(value, Mapping):
            yield {str(key): field for key, field in value.items() if field is not UNDEFINED}, nodes


def not_offered(
    inventory: Inventory, variable: str, mechanism: str, offers: Callable[[Node], object]
) -> Iterator[Problem]:
    """Find clusters that say something of a mechanism which none of their brokers offers."""
    for cluster in inventory.clusters():
        if any(fields for fields, _nodes in fields_said(cluster, variable)) and not any(map(offers, cluster.brokers)):
            first = cluster.brokers[0]
            offered = ", ".join(first.names("kafka_sasl_mechanisms")) or "no mechanism"
            yield Problem(first, f"{variable} is set, but no listener offers {mechanism}", offered)


def _takes_tokens(node: Node) -> bool:
    """Return whether a broker offers tokens at one of its listeners."""
    uses_sasl = any(listener.protocol in SASL_PROTOCOLS for listener in node.listeners())
    return uses_sasl and MECHANISM in node.names("kafka_sasl_mechanisms")


@rule(variable=VARIABLE, fix="set kafka_oauth.issuer, kafka_oauth.jwks_url and kafka_oauth.audience")
def no_token_issuer(inventory: Inventory) -> Iterator[Problem]:
    """Clients may log in by OAUTHBEARER, and `kafka_oauth` lacks the issuer, the address of its keys (without which
    Kafka from 4.1 on checks no signature, CVE-2026-110985) or the audience (without which every token of the issuer is
    taken, whomever it was made for)."""
    for cluster in inventory.clusters():
        for node in filter(_takes_tokens, cluster.brokers):
            value = node.variables.get(VARIABLE) or {}
            if isinstance(value, Mapping):
                missing = [field for field in ("issuer", "jwks_url", "audience") if not value.get(field)]
                if missing:
                    what = "kafka_oauth does not say which tokens brokers take"
                    yield Problem(node, what, f"no {', no '.join(missing)}")


@rule(variable=VARIABLE, fix="correct the field")
def bad_token_issuer(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_oauth` has a field that does not exist, or one with another type: two issuers, of which brokers know one;
    an audience that is empty, or that holds a comma or a blank."""
    options = role_options()[VARIABLE]["options"]
    for cluster in inventory.clusters():
        for said, nodes in fields_said(cluster, VARIABLE):
            if isinstance(said.get("issuer"), (list, tuple)):
                what = "brokers compare tokens with one issuer"
                remedy = (
                    "name one issuer; give the clients of another one users (kafka_users), or a cluster of their own"
                )
                yield Problem(nodes, what, f"{len(said['issuer'])} issuers", "one text", remedy, f"{VARIABLE}.issuer")
            elif _is_split(said.get("issuer")):
                yield Problem(nodes, "the issuer holds a comma or a blank", variable=f"{VARIABLE}.issuer")
            if isinstance(said.get("audience"), str):
                yield Problem(
                    nodes, "the audience has the wrong type", "text", "a list", variable=f"{VARIABLE}.audience"
                )
            for index, name in enumerate(_listed(said.get("audience"))):
                if name is not UNDEFINED and not (isinstance(name, str) and name.strip() and not _is_split(name)):
                    given = repr(name) if isinstance(name, str) else kind_of(name)
                    what = "an audience is one word without commas"
                    yield Problem(nodes, what, given, variable=f"{VARIABLE}.audience[{index}]")
            named = ("issuer", "audience")
            judged = {
                key: field for key, field in said.items() if key not in named or not isinstance(field, (list, str))
            }
            for what, given, allowed, fix in faults(judged, options):
                yield Problem(nodes, what.replace("entry", "issuer"), given, allowed, fix)


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, (list, tuple)) else ()


def _is_split(value: object) -> bool:
    """Return whether Kafka would read more than one value, or another one, in a text."""
    return isinstance(value, str) and ("," in value.strip() or len(value.split()) > 1)


@rule(
    variable=f"{VARIABLE}.jwks_url",
    allowed=_ADDRESS,
    fix="write the address of the issuer's keys, which it names as jwks_uri",
)
def bad_jwks_url(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_oauth.jwks_url` is no address of keys, holds a user or a password, or begins with `http://` although the
    issuer is another machine: who is on the way replaces the keys and signs tokens for everybody."""
    for nodes, fault in _bad_addresses(inventory, "jwks_url", "replace the keys"):
        yield Problem(nodes, "brokers cannot take the keys of the issuer from this address", fault)


@rule(
    variable=f"{VARIABLE}.endpoint_url",
    allowed=_ADDRESS,
    fix="write where the issuer gives tokens, which it names as token_endpoint",
)
def bad_endpoint_url(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_oauth.endpoint_url` is no address, holds a user or a password, or begins with `http://` although the
    issuer is another machine: who is on the way reads the secrets of our clients."""
    for nodes, fault in _bad_addresses(inventory, "endpoint_url", "read the secrets of clients"):
        yield Problem(nodes, "our clients cannot ask for tokens at this address", fault)


def _bad_addresses(inventory: Inventory, field: str, harm: str) -> Iterator[tuple[list[Node], str]]:
    """Yield what is wrong with the addresses of a field, with the brokers; harm -- what it lets others do."""
    for cluster in inventory.clusters():
        for said, nodes in fields_said(cluster, VARIABLE):
            url = said.get(field)
            if isinstance(url, str) and url.strip() and PLACEHOLDER not in url:
                fault = url_fault(url.strip(), harm)
                if fault:
                    yield nodes, fault


@rule(variable=f"{VARIABLE}.ca_file", fix="name a PEM file with the CAs of kafka_oauth.jwks_url")
def bad_issuer_ca(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_oauth.ca_file` cannot be read on the control node, or holds no certificate in PEM form."""
    for cluster in inventory.clusters():
        for said, nodes in fields_said(cluster, VARIABLE):
            file = said.get("ca_file")
            if not isinstance(file, str) or PLACEHOLDER in file:
                continue
            try:
                TokenIssuer.of({"ca_file": file}).authorities()
            except ValueError as error:
                yield Problem(nodes, "brokers would trust no CA of the issuer", str(error))


@rule(variable=VARIABLE, fix="add OAUTHBEARER to kafka_sasl_mechanisms, or remove kafka_oauth")
def tokens_not_offered(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_oauth` is set, and no listener of the cluster offers OAUTHBEARER."""
    yield from not_offered(inventory, VARIABLE, MECHANISM, _takes_tokens)


@rule(
    variable=f"{VARIABLE}.endpoint_url",
    fix="write where the issuer gives tokens, which it names as token_endpoint, or put SCRAM-SHA-512 first",
)
def no_endpoint_url(inventory: Inventory) -> Iterator[Problem]:
    """OAUTHBEARER is the first of `kafka_sasl_mechanisms`, by which the administrator, mirrors, canaries, the page and
    the Spark job log in, and `kafka_oauth.endpoint_url` does not say where they get tokens."""
    for cluster in inventory.clusters():
        lacking = [node for node in filter(_takes_tokens, cluster.brokers) if _lacks_endpoint_url(node)]
        if lacking:
            yield Problem(lacking, "nothing says where the administrator gets a token", "no endpoint_url")


def _lacks_endpoint_url(node: Node) -> bool:
    """Tell whether our clients log in by tokens at a broker and are not told where these are."""
    value = node.variables.get(VARIABLE) or {}
    is_first = chosen(node.names("kafka_sasl_mechanisms")) == MECHANISM
    return is_first and isinstance(value, Mapping) and not value.get("endpoint_url")


@rule(variable="kafka_jvm_options", fix="remove the argument: the roles allow kafka_oauth.jwks_url and nothing else")
def token_addresses_replaced(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_jvm_options` name the addresses of tokens and keys that Kafka may ask, without `kafka_oauth.jwks_url`
    among them, and win over what the roles allow: the broker would end at its start."""
    for cluster in inventory.clusters():
        for node in filter(_takes_tokens, cluster.brokers):
            url = TokenIssuer.of(node.get(VARIABLE)).jwks_url
            words = " ".join(node.names("kafka_jvm_options")).split()
            given = [word.removeprefix(TOKEN_ADDRESSES) for word in words if word.startswith(TOKEN_ADDRESSES)]
            if url and given and url not in map(str.strip, given[-1].split(",")):
                yield Problem(node, "Java may not ask the issuer for its keys", TOKEN_ADDRESSES)


@rule(fix="remove the property, and say it by kafka_oauth", acceptable=True)
def native_token_property(inventory: Inventory) -> Iterator[Problem]:
    """A native property of a listener (`listener.name.X.oauthbearer...`, `listener.name.X.sasl.oauthbearer...`) wins
    over `kafka_oauth`: brokers may take tokens of another issuer, for another audience, or that nobody signed."""
    for cluster in inventory.clusters():
        for node in filter(_takes_tokens, cluster.brokers):
            for native in node.properties().values():
                if _JUDGES.fullmatch(native.key):
                    what = "tokens are judged by this property, and not by kafka_oauth"
                    yield Problem(node, what, native.key, variable=native.variable)


@rule(
    variable=f"{VARIABLE}.principal_claim",
    allowed="sub, or a claim that the issuer alone writes, such as azp or client_id",
    fix="name a claim that the issuer alone writes, and give the names of super users to nobody there",
    level=BY_PROFILE,
    acceptable=True,
)
def principal_of_profile(inventory: Inventory) -> Iterator[Problem]:
    """With an authorizer `kafka_oauth.principal_claim` is a claim of a user's profile (`name`, `nickname`, `email`,
    `preferred_username` ...). A user who may write it can take the name of the administrator or of a node, and with it
    the rights of a super user."""
    for cluster in inventory.clusters():
        for said, nodes in fields_said(cluster, VARIABLE):
            claim = TokenIssuer.of(said).principal_claim
            if claim in _OF_PROFILE and any(_takes_tokens(node) and authorizer(node) for node in nodes):
                yield Problem(nodes, "a user who may write this claim can take the name of a super user", claim)


@host_rule(variable=VARIABLE, fix=_ISSUER_FIX, acceptable=True)
def issuer_unreachable(hosts: Sequence[Host]) -> Iterator[Problem]:
    """A broker that takes tokens gets no keys of the issuer from where it runs: the issuer does not answer, its
    certificate is refused, or its answer holds no key that can verify a signature. Brokers fetch the keys when they
    start, end without an answer and take nobody with an empty one, so nothing is restarted."""
    for host in hosts:
        answer = (host.info or {}).get("issuer")
        if answer and answer["problem"]:
            yield Problem(host, "the broker gets no keys of the issuer of tokens", answer["problem"])


@host_rule(
    variable=f"{VARIABLE}.clock_skew",
    allowed="what kafka_oauth.clock_skew says",
    fix="set the clocks of the issuer and of the hosts by the same sources",
    acceptable=True,
)
def issuer_clock(hosts: Sequence[Host]) -> Iterator[Problem]:
    """The clock of the issuer, as its answers say it, is further from that of a broker than tokens are allowed: new
    tokens are not valid yet, or their end comes at another time than the issuer says."""
    for host in hosts:
        answer = (host.info or {}).get("issuer")
        if answer and answer["behind"] is not None and abs(answer["behind"]) > answer["clock_skew"]:
            where = "behind" if answer["behind"] > 0 else "ahead of"
            apart = f"{abs(answer['behind']):.0f} s {where} the host, {answer['clock_skew']} s allowed"
            yield Problem(host, "the clock of the issuer differs from the broker's", apart)
