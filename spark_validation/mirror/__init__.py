"""Job mirror_audit: it reads both sides of a flow and proves that the target holds what the source held."""
# SPDX-License-Identifier: GPL-3.0-or-later
