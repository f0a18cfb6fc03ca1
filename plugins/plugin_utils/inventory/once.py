# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Answers about the whole inventory that one task computes once, however many variables ask for them.

Ansible renders a variable anew at each of its uses, and an answer about all hosts renders variables of each host: a
task that writes a node's configuration asked for the nodes of the cluster 39 times. One task on one host is one forked
process of Ansible's, which sees the inventory and all facts as they were when it began; there an answer holds to the
end of the process. In the process of the run itself facts change between tasks, so nothing is kept there.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Hashable
from typing import TypeVar

Answer = TypeVar("Answer")
_ANSWERS: dict[Hashable, object] = {}


def once(question: Hashable, compute: Callable[[], Answer]) -> Answer:
    """What C(compute) answers; in the process of a task it is called once for the same C(question).

    question -- all that the answer follows from, but for the inventory and the facts. Nobody changes an answer.
    """
    if multiprocessing.parent_process() is None:
        return compute()
    if question not in _ANSWERS:
        _ANSWERS[question] = compute()
    return _ANSWERS[question]  # type: ignore[return-value]  # each question has one kind of answer
