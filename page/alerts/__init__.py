"""The alerts that an Alertmanager has: where it is, one bounded question, and what its answer tells of clusters."""
# SPDX-License-Identifier: GPL-3.0-or-later
