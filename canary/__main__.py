"""Entry of `python -m canary CONFIG.json`."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import sys

from canary.serve import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
