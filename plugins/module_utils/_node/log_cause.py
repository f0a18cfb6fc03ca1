# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What ended a node or keeps it from its quorum, in one sentence, from the many lines that Kafka logs about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

#: A pattern of lines, what they mean, and the fix. The first that a line has decides, so the clearest stand first.
Causes = tuple[tuple[str, str, str], ...]
#: What ends a process.
ENDS: Causes = (
    (
        # Java makes this of SIGBUS. On tmpfs and thin volumes pages of mapped indexes find no room only when written.
        r"InternalError: a fault occurred in (?:a recent|an) unsafe memory access",
        "a file that Kafka has mapped into memory could not be read or written: its disk is full, or fails",
        "make room on the disk of the data (df -h); where it has room, look for its errors in the log of the kernel",
    ),
)
#: That, and what keeps it from others. A process that ended may have logged the latter long before.
CAUSES: Causes = (
    *ENDS,
    (
        r"Certificate chain is not valid|Private key could not be loaded|Invalid PEM (?:keystore|truststore) configs",
        "this node cannot load its key store or its trust store",
        "see that each certificate in tls/keystore.pem was issued by the next one, and its kind of key",
    ),
    (
        r"No subject alternative (DNS )?names?|No name matching",
        "the certificate of another node does not name the address at which this one reaches it",
        "have it issued with every advertised address as subject alternative name",
    ),
    (
        r"Extended key usage does not permit|KeyUsage does not allow",
        "the certificate of another node may not be used for what it is shown for",
        "have it issued with extendedKeyUsage = serverAuth,clientAuth and keyUsage = digitalSignature",
    ),
    (
        r"CertificateExpired|CertificateNotYetValid|certificate_expired",
        "a certificate has ended, or is not valid yet",
        "renew it, or correct the clock of the node that says so",
    ),
    (
        r"PKIX path validation failed.{0,200}",
        "this node does not accept the chain of certificates that another one shows",
        "have it issued without what the line names",
    ),
    (
        r"PKIX path building failed|unable to find valid certification path|unknown_ca",
        "another node shows a certificate that leads to no CA which this one trusts",
        "give all nodes certificates of a CA that is in the kafka_tls_ca_file of all",
    ),
    (
        r"Received fatal alert: \w+",
        "another node refuses the certificate that this one shows",
        "see that it leads to a CA which the others trust, that its extended key usage has clientAuth, and its dates",
    ),
    (
        r"No rules apply to",
        "kafka_tls_principal_rules make no principal of the certificate of another node",
        "write a rule that matches the whole subject, as the line shows it",
    ),
    (
        r"CLUSTER_AUTHORIZATION_FAILED|ClusterAuthorizationException",
        "the authorizer refuses another node, since the principal of its certificate is no super user",
        "compare the subjects of the certificates with kafka_tls_principal_rules",
    ),
    (
        r"SSL handshake failed|SslAuthenticationException|SSLHandshakeException",
        "TLS handshakes with other nodes fail",
        "compare certificates, CA files and kafka_tls_protocols of the nodes",
    ),
    (
        # So says a quorum without a majority as well, of everybody who is no super user (StandardAuthorizer).
        r"AuthorizerNotReadyException",
        "the authorizer answers none but super users until the quorum has a leader",
        "see that a majority of the controllers runs; when it does, the principal of one of them is no super user:"
        " compare the subjects of the certificates with kafka_tls_principal_rules",
    ),
)
# What differs from line to line of the same error: times, ids, addresses of objects, whole requests.
_TIME = re.compile(r"^\[?\d{4}-\d\d-\d\d[ T][\d:.,]+Z?\]?\s*")
_VARIES = re.compile(r"(--|data=|callback=).*|[0-9a-f]*\d[0-9a-f]*|@\w+")
SHAPES = 8
WIDTH = 240


def cause(lines: Iterable[str], causes: Causes = CAUSES) -> str:
    """Return the clearest cause that any of these lines tells, with the words that tell it and the fix, or nothing."""
    listed = list(lines)
    for pattern, meaning, fix in causes:
        found = next((match[0] for line in listed for match in [re.search(pattern, line)] if match), None)
        if found is not None:
            return f"{meaning} ({found}); fix: {fix}"
    return ""


def distinct(lines: Sequence[str], limit: int = SHAPES) -> list[str]:
    """The last lines of each kind, in order: a line that repeats one but for times and numbers says nothing new."""
    last = {_VARIES.sub("N", _TIME.sub("", line)): number for number, line in enumerate(lines)}
    return [lines[number][:WIDTH] for number in sorted(last.values())][-limit:]
