"""Job smoke: it writes numbered records, reads them back and proves each one is there once and in order."""
# SPDX-License-Identifier: GPL-3.0-or-later
