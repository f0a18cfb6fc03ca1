"""Find the findings of a cluster that name a broker. Pure.

Findings are sentences: they name a broker by its host, or by its id behind a word that says what it is.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

Row = Mapping[str, Any]


def findings_about(findings: Iterable[Row], number: int, hosts: Iterable[str]) -> list[Row]:
    """Return the findings whose sentence or figure names a broker by its id or by one of its hosts, in their order.

    A sentence that names only some of many brokers, and how many more, is found for those that it names.
    """
    forms = [rf"(?<![\w.-])(?:broker|controller|node|voter) {number}(?![\w-])", rf"\(id {number}\)"]
    forms += [rf"(?<![\w.-]){re.escape(host)}(?![\w-]|\.\w)" for host in sorted(set(filter(None, hosts)))]
    named = re.compile("|".join(forms))
    return [one for one in findings if named.search(str(one["what"])) or named.search(str(one["found"]))]
