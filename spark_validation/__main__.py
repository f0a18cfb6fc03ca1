"""Entry of `python -m spark_validation` and of `spark-submit --py-files PACKAGE.zip spark_validation/__main__.py`."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import sys

from spark_validation.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
