"""Look again and again, in a thread of its own, for records that a flow can no longer copy.

The look is that of the module mirror_gaps, and so is what it keeps with the target: a status and the canary tell of the
same gaps, and a gap that is forgotten is forgotten for both.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import logging
import threading
import time

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gaps import Marks, told
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gaps_look import (
    keep,
    kept,
    looked,
    refuse_one_cluster,
)
from canary.board import Board
from canary.failures import is_known, why_of

_LOG = logging.getLogger("canary")
#: Seconds between two looks: with the second look at a gap that is new, it is named within a minute. A look that takes
#: longer is followed by a pause as long as itself.
LOOK = 30.0
#: Seconds after which what a look must know is kept again although no gap has come: it has a figure for each partition.
#: A look that fails keeps it too: of a source that is lost, a failover can know nothing later.
_KEEP = 600.0
#: Seconds that a mirror gets to write its positions down, beside those between two times.
_FLUSH = 5.0


class GapWatch:
    """Watches a flow. C(flush) are the seconds after which a mirror writes its positions down."""

    def __init__(
        self, flow: Flow, source: Connection, target: Connection, flush: float, board: Board, end: threading.Event
    ) -> None:
        self._flow, self._source, self._target, self._board, self._end = flow, source, target, board, end
        self._confirm = flush + _FLUSH
        #: What the topic of the target has, as it was read or written last; what is known now, and when it was written.
        self._stored: Marks | None = None
        self._known = Marks()
        self._kept_at = float("-inf")
        self._is_kept = True
        self.thread = threading.Thread(target=self._run, name=f"gaps {flow.pair}", daemon=True)

    def _run(self) -> None:
        while not self._end.is_set():
            begun = time.monotonic()
            try:
                self._once()
            except Exception as error:
                # A thread that ended would look like a flow without gaps.
                why = why_of(error)
                self._board.gaps_not_looked_for(self._flow, why)
                _LOG.warning("gaps of %s are not watched: %s", self._flow.pair, why, exc_info=not is_known(error))
                self._keep_last_look()
            took = time.monotonic() - begun
            self._end.wait(max(LOOK - took, min(took, LOOK)))

    def _once(self) -> None:
        with Session(self._target) as copy, Session(self._source) as origin:
            refuse_one_cluster(self._flow, origin, copy)
            stored = kept(self._flow, copy)
            # Whoever wrote there since looked later, or said that a gap has been dealt with. What was found and could
            # not be written is known here all the same.
            if self._stored is None or stored.as_data() != self._stored.as_data():
                self._stored, self._known, self._is_kept = stored, stored, True
                self._board.gaps_known(self._flow, told(stored))
            before = self._known
            known = looked(self._flow, origin, copy, before, self._confirm, self._end.wait)
            if self._end.is_set():
                return
            self._known, self._is_kept = known, False
            self._board.gaps_looked_for(self._flow, told(known), time.monotonic())
            is_due = time.monotonic() - self._kept_at > _KEEP or list(known.gaps) != list(stored.gaps)
            if is_due:
                self._keep(copy)

    def _keep(self, copy: Session) -> None:
        """Keep what is known, where the target still has what was stored."""
        if self._stored is not None and keep(self._flow, copy, self._known, self._stored):
            self._stored, self._kept_at, self._is_kept = self._known, time.monotonic(), True

    def _keep_last_look(self) -> None:
        """Keep what the last whole look saw, once, after a look that failed: its source may be lost."""
        if self._is_kept:
            return
        try:
            with Session(self._target) as copy:
                self._keep(copy)
        except Exception as error:
            why = why_of(error)
            _LOG.warning("the last look at %s is not kept: %s", self._flow.pair, why, exc_info=not is_known(error))
