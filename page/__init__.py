"""A small service that polls Kafka clusters and serves offsets, groups and lag as metrics, over TLS and with a login.

It reads groups and logs with the same code as the modules of this collection (plugins/module_utils), of which it needs
what talks to Kafka; it needs kafka-python, Starlette and uvicorn, and neither Ansible nor confluent-kafka.

Pure: config, clusters, checks, login, attempts, remembered, health, metrics, picture. The others act: poll and
poller on clusters, access, web and patience on readers, tls on files, serve on the process.
"""
# SPDX-License-Identifier: GPL-3.0-or-later
