"""A small service that polls one Kafka cluster and serves offsets, groups and lag as metrics.

It reads groups and logs with the same code as the modules of this collection (plugins/module_utils), of which it needs
what talks to Kafka; it needs kafka-python, Starlette and uvicorn, and neither Ansible nor confluent-kafka.
"""
# SPDX-License-Identifier: GPL-3.0-or-later
