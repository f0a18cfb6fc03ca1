# SPDX-License-Identifier: GPL-3.0-or-later
"""A real broker that takes the tokens of an issuer, with the properties that the roles write."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ansible_collections.streamops.kafka.plugins.module_utils._client.login import TOKEN_ADDRESSES, SaslLogin
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.oauth import TokenIssuer
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.security import token_properties
from tests.support.lone_broker import LoneBroker, as_written

_PREFIX = "listener.name.client"


@contextlib.contextmanager
def token_broker(
    release: Path, version: str, directory: Path, port: int, said: TokenIssuer, superuser: str = ""
) -> Iterator[LoneBroker]:
    """Start one whose listener for clients takes only tokens; port and the two behind it are its own.

    superuser -- who alone may do anything there; without it all may
    """
    written = _own_properties(said, version, port)
    if superuser:
        written["authorizer.class.name"] = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
        # The listeners without a login are the broker's own.
        written["super.users"] = f"User:{superuser};User:ANONYMOUS"
    broker = LoneBroker(release, directory, port, options=f"{TOKEN_ADDRESSES}{said.jwks_url}", **written)
    broker.format("AAAAAAAAAAAAAAAAAAAAAQ")
    broker.start()
    try:
        yield broker
    finally:
        broker.kill()


def _own_properties(said: TokenIssuer, version: str, port: int) -> dict[str, str]:
    """Return the properties of the broker as they stand in its file."""
    mechanisms = {f"{_PREFIX}.sasl.enabled.mechanisms": ["OAUTHBEARER"]}
    return {
        **as_written({**mechanisms, **token_properties(_PREFIX, said, version)}),
        "listeners": f"CLIENT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{port + 1},BROKER://127.0.0.1:{port + 2}",
        "listener.security.protocol.map": "CLIENT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT,BROKER:PLAINTEXT",
        "inter.broker.listener.name": "BROKER",
    }


def as_module(broker: LoneBroker, login: SaslLogin) -> dict[str, object]:
    """Return the options of a module that logs in there."""
    where = {"bootstrap_servers": broker.bootstrap_servers, "security_protocol": "SASL_PLAINTEXT"}
    return {**where, **login.options()}
