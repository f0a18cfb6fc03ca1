"""Job proof: it reads the topic of a proof to its end and counts what is there; who wrote the records compares."""
# SPDX-License-Identifier: GPL-3.0-or-later
