"""A wait that ends at once when it should, and only then."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.watch.waker import Waker

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def waker() -> Iterator[Waker]:
    waker = Waker()
    yield waker
    waker.close()


def test_nothing_said_is_no_call(waker: Waker) -> None:
    assert not waker.wait(0)


def test_a_nudge_ends_the_wait_and_is_no_call(waker: Waker) -> None:
    waker.nudge()
    assert not waker.wait(3600)


@pytest.mark.parametrize("nudges", [0, 1, 100_000])
def test_a_call_is_heard_among_any_number_of_nudges(waker: Waker, nudges: int) -> None:
    for _ in range(nudges):
        waker.nudge()
    waker.call()
    assert waker.wait(3600)
    assert not waker.wait(0)


def test_from_another_thread(waker: Waker) -> None:
    threading.Timer(0.01, waker.call).start()
    assert waker.wait(3600)


@pytest.mark.skipif(sys.platform == "win32", reason="needs macOS or Linux: a process sends itself a signal")
def test_a_signal_ends_the_wait_and_its_handler_may_call(waker: Waker) -> None:
    heard: list[int] = []

    def handler(number: int, _frame: object) -> None:
        heard.append(number)
        waker.call()

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        assert waker.wait(3600)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert heard == [signal.SIGUSR1]


def test_after_the_end_a_call_does_no_harm() -> None:
    waker = Waker()
    waker.close()
    waker.call()
    waker.nudge()
    assert waker.fileno() == -1
