# SPDX-License-Identifier: GPL-3.0-or-later
"""A real broker that takes the tickets of a KDC, with the properties that the roles write."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from ansible_collections.streamops.kafka.plugins.module_utils._client.login import KRB5_OPTION
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.kerberos import Kerberos
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.security import AUTHORIZER, kerberos_properties
from tests.support.kdc import REALM, Kdc
from tests.support.lone_broker import LoneBroker, as_written

#: What clients call the broker: the second part of its principal.
HOST = "localhost"
_PREFIX = "listener.name.client"


def ticket_properties(said: Kerberos, keytab: str, port: int) -> dict[str, str]:
    """Return the properties of a broker as they stand in its file; the two ports behind its port are its own.

    Behind the second one everybody is a super user, for what a test itself does there; alice is one by tickets.
    """
    listener = {"name": "CLIENT", "advertised_host": HOST}
    mechanisms = {f"{_PREFIX}.sasl.enabled.mechanisms": ["GSSAPI"]}
    return {
        **as_written({**mechanisms, **kerberos_properties(listener, said, keytab)}),
        "listeners": f"CLIENT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{port + 1},BROKER://127.0.0.1:{port + 2}",
        "advertised.listeners": f"CLIENT://{HOST}:{port},BROKER://127.0.0.1:{port + 2}",
        "listener.security.protocol.map": "CLIENT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT,BROKER:PLAINTEXT",
        "inter.broker.listener.name": "BROKER",
        "authorizer.class.name": AUTHORIZER,
        "super.users": "User:alice;User:ANONYMOUS",
    }


@contextlib.contextmanager
def ticket_broker(
    release: Path,
    directory: Path,
    port: int,
    kdc: Kdc,
    keytab: Path,
    cluster: str = "AAAAAAAAAAAAAAAAAAAAAQ",
    more: Mapping[str, str] | None = None,
) -> Iterator[LoneBroker]:
    """Start one that reads this keytab; cluster -- its id; more -- properties beside those of tickets."""
    directory.mkdir(parents=True, exist_ok=True)
    said = Kerberos(REALM, kdcs=(kdc.address,), keytab_path=str(keytab))
    krb5 = directory / "krb5.conf"
    krb5.write_text(said.krb5())
    options = f"{KRB5_OPTION}{krb5}"
    properties = {**ticket_properties(said, str(keytab), port), **(more or {})}
    broker = LoneBroker(release, directory, port, options=options, **properties)
    broker.format(cluster)
    broker.start()
    try:
        yield broker
    finally:
        broker.kill()
