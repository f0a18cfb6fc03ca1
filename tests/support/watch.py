"""Sees how many nodes of a cluster are down at once, and in which order they go down."""

from __future__ import annotations

import threading
import time

from tests.support.cluster import Cluster


class Watch:
    """Looks at all nodes many times a second: how many are down at once, and who went down in which order."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.most_down = 0
        self.order: list[str] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _look(self) -> None:
        while not self._stop.is_set():
            down = [node for node in self.cluster.nodes if not self.cluster.alive(node)]
            self.most_down = max(self.most_down, len(down))
            for node in down:
                if not self.order or self.order[-1] != node:
                    self.order.append(node)
            time.sleep(0.02)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
