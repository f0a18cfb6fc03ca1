# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of client properties whose values are secrets, of every kind that the collection may meet, and names that only
look alike."""

from __future__ import annotations

SECRET = (
    "ssl.key.password",
    "ssl.keystore.password",
    "ssl.truststore.password",
    "ssl.keystore.key",
    "listener.name.internal.ssl.keystore.key",
    "sasl.jaas.config",
    "sasl.oauthbearer.client.credentials.client.secret",
    "sasl.oauthbearer.assertion.private.key.passphrase",
    "custom.private.key.passphrase",
    "CUSTOM.PRIVATE.KEY.PASSPHRASE",
    "delegation.token.secret.key",
    "password.encoder.secret",
    "config.providers.vault.param.token",
    "auth.token.value",
    "basic.auth.user.info",
    "schema.registry.basic.auth.passwd",
    "interceptor.api_key",
    "interceptor.api-key",
    "metrics.http.proxy.pwd",
    "reporter.passcode",
    "rsm.config.s3.credentials",
)
PUBLIC = (
    "security.protocol",
    "sasl.mechanism",
    "ssl.truststore.location",
    "ssl.keystore.type",
    "sasl.oauthbearer.token.endpoint.url",
    "delegation.token.expiry.time.ms",
    "delegation.token.max.lifetime.ms",
    "key.serializer",
    "max.request.size",
)
