"""Answer requests for records: whether the reader may, whether a place is free, what was read. Each read is logged."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from starlette.responses import Response

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import visible
from page.records import bounds
from page.records.asked import Asked, asked_of
from page.records.batches import Found
from page.records.markup import Trouble, written
from page.records.masking import Mask
from page.records.read import NoTopicError, read
from page.records.rights import Rights
from page.records.shown import ranges
from page.shown.wanted import JSON, WrongQueryError, form_of


class TooManyError(Exception):
    """A read that must wait: C(status) 429 where the reader has one under way, 503 where others have all of them."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Gate:
    """Counts the reads under way. A read that gets no place waits for none: threads of the service are few."""

    def __init__(self, most: int = bounds.READS) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._readers: set[str] = set()

    @contextmanager
    def place(self, user: str) -> Iterator[None]:
        """Take a place for the time of a read. Raises TooManyError."""
        with self._lock:
            if user in self._readers:
                raise TooManyError(429, "Another read of yours is under way, and each reader has one at a time.")
            if len(self._readers) >= self._most:
                raise TooManyError(503, f"{self._most} other readers read now, and no more may at a time.")
            self._readers.add(user)
        try:
            yield
        finally:
            with self._lock:
                self._readers.discard(user)


_LOG = logging.getLogger("page.records")
# Who reads what is told however little the rest of the service says.
_LOG.setLevel(logging.INFO)
#: No site of others gets any of it, whatever it embeds (Fetch, Cross-Origin-Resource-Policy).
_HEADERS = {"cross-origin-resource-policy": "same-origin"}
_OFF = "Records are not shown: the settings of the page name no reader, or no topic."
_TURN_ON = "Set kafka_page_records_readers and kafka_page_records_topics in the inventory, then run page.yml."
_RIGHT = "Ask who runs the page: kafka_page_records_readers names readers, kafka_page_records_topics their topics."
_STEP = "Grant a right that is missing in kafka_acls (docs/page.md). A batch above 8 MiB is not read here."
#: Seconds after which a read that found no place may come again.
_LATER = 5


class Door:
    """Serves records of the topics of C(clusters) to those who have the right to."""

    def __init__(self, rights: Rights, clusters: Mapping[str, Connection]) -> None:
        self._rights, self._clusters = rights, clusters
        self._mask = Mask(rights.masked, rights.show_unmasked)
        self._gate = Gate()

    def may_read(self, user: str, cluster: str, topic: str) -> bool:
        """Return whether a user may read the records of a topic; without a login nobody may."""
        return bool(user) and cluster in self._clusters and self._rights.may_read(user, cluster, topic)

    def answer(self, user: str, cluster: str, topic: str, query: bytes) -> Response:
        """Serve records, or say why there are none. Runs in a thread, since it waits for brokers."""
        # A program that cannot be answered gets that as JSON too.
        asked, text, trouble = Asked(form=form_of(query)), "", self._refusal(user, cluster, topic)
        if trouble is None:
            try:
                asked = asked_of(query)
                # What was found is masked and written at the same place, which may cost more than to read it.
                with self._gate.place(user):
                    found, trouble = self._read(user, cluster, topic, asked)
                    text = written(cluster, topic, asked, found, self._mask, trouble)
            except WrongQueryError as error:
                trouble = Trouble(400, "This request cannot be answered.", str(error))
            except TooManyError as error:
                trouble = Trouble(error.status, str(error), "Try again in some seconds.", _LATER)
        text = text or written(cluster, topic, asked, Found(), self._mask, trouble)
        headers = dict(_HEADERS)
        if trouble and trouble.retry_after:
            headers["retry-after"] = str(trouble.retry_after)
        kind = "application/json" if asked.form == JSON else "text/html"
        status = trouble.status if trouble else 200
        return Response(text.encode("utf-8", "replace"), status, headers, media_type=f"{kind}; charset=utf-8")

    def _refusal(self, user: str, cluster: str, topic: str) -> Trouble | None:
        if not self._rights.is_on:
            return Trouble(404, _OFF, _TURN_ON)
        if self.may_read(user, cluster, topic):
            return None
        _LOG.warning("user %s may not read records of topic %s of cluster %s", *map(_word, (user, topic, cluster)))
        return Trouble(403, "You may not read the records of this topic.", _RIGHT)

    def _read(self, user: str, cluster: str, topic: str, asked: Asked) -> tuple[Found, Trouble | None]:
        who = [_word(one) for one in (user, topic, cluster)]
        _LOG.info("user %s reads records of topic %s of cluster %s %s", *who, asked.words)
        try:
            found = read(self._clusters[cluster], topic, asked)
        except NoTopicError as error:
            return Found(), Trouble(404, str(error), "Choose another topic or partition.")
        except StreamopsError as error:
            _LOG.warning("user %s got no records of topic %s of cluster %s: %s", *who, _word(error.message))
            return Found(), Trouble(502, f"The cluster gave no records: {error.message}", _STEP)
        got = (len(found.records), ranges(found.records), found.fetched, found.seconds)
        # What a search looked through tells of its contents too, so all of it is told.
        _LOG.info("user %s got of topic %s of cluster %s %s records (%s), %s bytes fetched in %.1f s", *who, *got)
        return found, None


def _word(text: str) -> str:
    """Return a name for the log: of one line, and not without an end."""
    return visible(text)[:500]
