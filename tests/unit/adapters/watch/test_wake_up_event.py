"""A wait that ends at once when it should, and only then."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.watch.watching import WakeUpEvent

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def wake_up_event() -> Iterator[WakeUpEvent]:
    wake_up_event = WakeUpEvent()
    yield wake_up_event
    wake_up_event.close()


def test_nothing_said_is_no_call(wake_up_event: WakeUpEvent) -> None:
    assert not wake_up_event.wait(0)


def test_a_nudge_ends_the_wait_and_is_no_call(wake_up_event: WakeUpEvent) -> None:
    wake_up_event.nudge()
    assert not wake_up_event.wait(3600)


@pytest.mark.parametrize("nudges", [0, 1, 100_000])
def test_a_call_is_heard_among_any_number_of_nudges(wake_up_event: WakeUpEvent, nudges: int) -> None:
    for _ in range(nudges):
        wake_up_event.nudge()
    wake_up_event.call()
    assert wake_up_event.wait(3600)
    assert not wake_up_event.wait(0)


def test_from_another_thread(wake_up_event: WakeUpEvent) -> None:
    threading.Timer(0.01, wake_up_event.call).start()
    assert wake_up_event.wait(3600)


@pytest.mark.skipif(sys.platform == "win32", reason="needs macOS or Linux: a process sends itself a signal")
def test_a_signal_ends_the_wait_and_its_handler_may_call(wake_up_event: WakeUpEvent) -> None:
    heard: list[int] = []

    def handler(number: int, _frame: object) -> None:
        heard.append(number)
        wake_up_event.call()

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        assert wake_up_event.wait(3600)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert heard == [signal.SIGUSR1]


def test_after_the_end_a_call_does_no_harm() -> None:
    wake_up_event = WakeUpEvent()
    wake_up_event.close()
    wake_up_event.call()
    wake_up_event.nudge()
    assert wake_up_event.fileno() == -1
