"""What readers see of polls that succeed and fail."""

from __future__ import annotations

import threading
import time

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import ClusterUnreachableError
from page.known.picture import Picture
from page.known.poller import Poller


def answering(answers: list[Picture | Exception], before: list[Picture | None]) -> Poller:
    """A poller whose polls end so, one after the other; C(before) gets the picture that each is told."""

    def take(last: Picture | None) -> Picture:
        before.append(last)
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return Poller("orders", take, 30, 100)


def test_a_poll_that_fails_leaves_the_last_picture_and_is_counted() -> None:
    answers: list[Picture | Exception] = [
        Picture(1.0, 0.1, 1, 1, 0, {}, []),
        ValueError("broken"),
        Picture(2.0, 0.1, 1, 1, 0, {}, []),
    ]

    pictures: list[Picture | None] = []
    poller = answering(answers, pictures)
    poller.poll()
    first = poller.seen
    poller.poll()
    assert (poller.seen.picture, poller.seen.families) == (first.picture, first.families)
    assert (poller.seen.polls.done, poller.seen.polls.failed) == (2, 1)
    assert poller.seen.polls.error == "ValueError: broken"
    assert poller.seen.history.times == (1.0,)
    poller.poll()
    assert poller.seen.history.times == (1.0, 2.0)
    assert poller.seen.picture is not None
    assert (poller.seen.picture.taken, poller.seen.polls.failed, poller.seen.polls.error) == (2.0, 1, "")
    # What changes seldom is carried over from the last picture, also past a poll that failed.
    assert pictures == [None, first.picture, first.picture]


@pytest.mark.parametrize(
    ("failure", "is_down"),
    [
        (ClusterUnreachableError({"kafka1:9092": "connection refused"}, is_gone=True), True),
        # A name that is not known, or no file handle left: that is this machine.
        (ClusterUnreachableError({"kafka1:9092": "no address of its name"}), False),
        (ValueError("broken"), False),
    ],
)
def test_a_cluster_of_which_no_server_answers_is_down_until_one_does(failure: Exception, is_down: bool) -> None:
    poller = answering([failure, Picture(1.0, 0.1, 1, 1, 0, {}, [])], [])
    poller.poll()
    assert poller.seen.polls.is_down == is_down
    poller.poll()
    assert not poller.seen.polls.is_down


def test_a_poll_that_hangs_delays_no_other_cluster() -> None:
    free = threading.Event()

    def hang(_last: Picture | None) -> Picture:
        free.wait(120)
        raise ValueError("hung")

    hanging = Poller("hanging", hang, 30, 100)
    well = Poller("well", lambda _last: Picture(1.0, 0.1, 1, 1, 0, {}, []), 0.01, 100)
    try:
        hanging.start()
        well.start()
        until = time.monotonic() + 120
        while well.seen.polls.done < 3:
            assert time.monotonic() < until
            time.sleep(0.01)
        assert hanging.seen.polls.done == 0
    finally:
        free.set()
        for one in (hanging, well):
            one.end()
            one.wait(120)
