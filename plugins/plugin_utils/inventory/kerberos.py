# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How clients log in by Kerberos (`kafka_kerberos`), typed, and which user of Kafka a principal becomes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os.path import expanduser
from pathlib import Path

from ...module_utils._client.login import SERVICE, TICKETS, SaslLogin
from ...module_utils._node.keytab import Key, KeytabError, fault, read_keys

MECHANISM = TICKETS
DEFAULT_RULE = "DEFAULT"
#: A rule as Kafka reads it (KerberosShortNamer).
_RULE = re.compile(
    r"(?:(?P<default>DEFAULT)|RULE:\[(?P<parts>\d+):(?P<format>[^\]]*)\](?:\((?P<match>[^)]*)\))?"
    r"(?:s/(?P<pattern>[^/]*)/(?P<to>[^/]*)/(?P<all>g)?)?)/?(?P<lower>L)?"
)
_VAULT = b"$ANSIBLE_VAULT"
_PARAMETER = re.compile(r"\$(\d+)")
#: What stands in krb5.conf and in a login module without another meaning.
_WORD = re.compile(r"[A-Za-z0-9._~/@:+-]+")
_KRB5 = """\
# Written by Ansible. See kafka_kerberos.
[libdefaults]
    default_realm = {realm}
    dns_lookup_kdc = false
    dns_lookup_realm = false
    dns_canonicalize_hostname = false

[realms]
    {realm} = {{
{kdcs}
    }}
"""


@dataclass(frozen=True)
class Kerberos:
    """How clients log in by Kerberos, as `kafka_kerberos` says it; what it leaves out is empty, or Kafka's default.

    kdcs -- host or host:port of each; with them a krb5.conf is written. krb5_file -- one that is on the node.
    keytab_file -- on the control node, and is copied. keytab_path -- on the node. principal -- of the node, where it is
    not service_name/HOST@realm. principal_rules -- what principals become in ACLs. client_keytab_file -- on the control
    node, with the keys of our own clients.
    """

    realm: str = ""
    kdcs: tuple[str, ...] = ()
    krb5_file: str = ""
    service_name: str = SERVICE
    keytab_file: str = ""
    keytab_path: str = ""
    principal: str = ""
    principal_rules: tuple[str, ...] = (DEFAULT_RULE,)
    client_keytab_file: str = ""

    @classmethod
    def of(cls, value: object) -> Kerberos:
        """Read it from a value that the preflight has judged; what is none of its fields is passed over."""
        said = {key: field for key, field in value.items() if field} if isinstance(value, Mapping) else {}
        return cls(
            realm=_text(said.get("realm")),
            kdcs=_texts(said.get("kdcs")),
            krb5_file=_text(said.get("krb5_file")),
            service_name=_text(said.get("service_name")) or SERVICE,
            keytab_file=expanduser(_text(said.get("keytab_file"))),
            keytab_path=_text(said.get("keytab_path")),
            principal=_text(said.get("principal")),
            principal_rules=_texts(said.get("principal_rules")) or (DEFAULT_RULE,),
            client_keytab_file=expanduser(_text(said.get("client_keytab_file"))),
        )

    def principal_at(self, host: str) -> str:
        """Return the principal of a node at the listener that it advertises as C(host)."""
        # Clients ask the KDC for the name in small letters.
        return self.principal or f"{self.service_name}/{host.lower()}@{self.realm}"

    def login(self, user: str, keytab: str = "") -> SaslLogin:
        """Return how one of our own clients logs in, which brokers shall know as this user.

        keytab -- where the client runs; without it client_keytab_file, that of the administrator.
        """
        return SaslLogin.by_ticket(keytab or self.client_keytab_file, f"{user}@{self.realm}", self.service_name)

    def login_flaw(self, user: str, keytab: str) -> str:
        """Say why a client with this keytab of the control node would not be this user to brokers, "" where it is."""
        principal = self.login(user).principal
        try:
            flaw = fault(read_keytab(keytab), principal)
        except ValueError as error:
            return str(error)
        made = short_name(self.principal_rules, self.realm, principal)
        return flaw or ("" if made == user else f"principal_rules make {made or 'no user'} of {principal}, not {user}")

    def fault(self) -> str:
        """Say why no file may be written with it, "" where it may: preflight does not see what is made at run time."""
        if not self.realm:
            return "kafka_kerberos has no realm"
        if bool(self.keytab_file) == bool(self.keytab_path):
            return "kafka_kerberos needs keytab_file or keytab_path, and not both"
        if self.kdcs and self.krb5_file:
            return "kafka_kerberos has kdcs and krb5_file, of which Java reads one"
        words = (self.realm, *self.kdcs, self.krb5_file, self.service_name, self.keytab_path, self.principal)
        bad = [word for word in words if word and not _WORD.fullmatch(word)]
        if bad:
            return f"kafka_kerberos has {bad[0]!r}, which holds a blank, a quote or another character of no such value"
        return next((f"{flaw}: {rule}" for rule in self.principal_rules if (flaw := rule_fault(rule))), "")

    def krb5(self) -> str:
        """Return the text of the krb5.conf that is written, empty where another one is read."""
        listed = "\n".join(f"        kdc = {kdc}" for kdc in self.kdcs)
        return _KRB5.format(realm=self.realm, kdcs=listed) if self.kdcs else ""


def shared_krb5(clusters: Iterable[Kerberos], own: Kerberos) -> Kerberos:
    """Return which krb5.conf one process reads for all clusters that it enters by Kerberos; empty without such a file.

    clusters -- kafka_kerberos of these. own -- that of the host of the process, whose krb5_file is on its machine.
    Without that the KDCs are those that one of the clusters names: they have the same realm (rules mirror_realms and
    page_realms). Where none does, the process reads /etc/krb5.conf.
    """
    asked = list(clusters)
    if asked and own.krb5_file:
        return Kerberos(krb5_file=own.krb5_file)
    return next((Kerberos(realm=said.realm, kdcs=said.kdcs) for said in asked if said.kdcs), Kerberos())


def read_keytab(file: str) -> list[Key]:
    """Read the keys of a keytab on the control node. ValueError says which file has what wrong with it."""
    try:
        content = Path(file).read_bytes()
        if content.startswith(_VAULT):
            raise KeytabError("it is encrypted by Ansible Vault, so its keys cannot be checked; decrypt it")
        return read_keys(content)
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror}") from None
    except KeytabError as error:
        raise ValueError(f"{file}: {error}") from None


def rule_fault(rule: str) -> str:
    """Say why Kafka does not take a rule for principals, "" where it does."""
    if "," in rule:
        return "a rule cannot hold a comma, at which Kafka cuts it"
    parsed = _RULE.fullmatch(rule)
    if not parsed:
        return "this is no rule as Kafka reads it (RULE:[n:string](regexp)s/pattern/replacement/g/L, or DEFAULT)"
    for part in ("match", "pattern"):
        try:
            re.compile(parsed[part] or "")
        except re.error:
            return "the rule holds a regular expression that cannot be read"
    return ""


def short_name(rules: Iterable[str], default_realm: str, principal: str) -> str:
    """Return the user that Kafka makes of a principal, as KerberosShortNamer does; empty where no rule takes it."""
    name, _at, realm = principal.partition("@")
    values = [realm, *name.split("/", 1)]
    for rule in rules:
        parsed = _RULE.fullmatch(rule)
        if not parsed or (result := _applied(parsed, default_realm, values)) is None:
            continue
        # Kafka refuses what still has more than one part.
        return "" if re.search("[/@]", result) else result.lower() if parsed["lower"] else result
    return ""


def _applied(rule: re.Match[str], default_realm: str, values: list[str]) -> str | None:
    """Return what a rule makes of realm and parts of a name; None where it does not take them."""
    if rule["default"]:
        return values[1] if values[0] == default_realm else None
    if int(rule["parts"]) != len(values) - 1:
        return None
    try:
        base = _PARAMETER.sub(lambda place: values[int(place[1])], rule["format"])
        if rule["match"] is not None and not re.fullmatch(rule["match"], base):
            return None
        if rule["pattern"] is None:
            return base
        to = _PARAMETER.sub(r"\\g<\1>", rule["to"])
        return re.sub(rule["pattern"], to, base, count=0 if rule["all"] else 1)
    except (re.error, IndexError):
        return None


def _texts(value: object) -> tuple[str, ...]:
    """Return the entries of a list, which may be text with commas, as Ansible takes it for one too."""
    listed = value.split(",") if isinstance(value, str) else value
    return tuple(map(_text, listed)) if isinstance(listed, (list, tuple)) else ()


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()
