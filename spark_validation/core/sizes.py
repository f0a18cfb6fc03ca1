"""How many records one Spark task handles, in every job."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

#: A writing task holds its sequence numbers in memory (8 bytes each) before they stream to the producer.
RECORDS_PER_WRITER = 250_000
#: A reading task gets at most about as many.
RECORDS_PER_TASK = 500_000
