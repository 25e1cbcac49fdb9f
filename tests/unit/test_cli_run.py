"""What a signal ends: the daemon where there is one, else the process, and always with 0."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, cast

import pytest

from aria_dream.cli.run import Ending, ended_by_signals

if TYPE_CHECKING:
    from aria_dream.daemon import Daemon


class Stopped:
    stops = 0

    def stop(self) -> None:
        self.stops += 1


@pytest.mark.skipif(os.name == "nt", reason="needs signals, not Windows")
def test_a_signal_before_the_daemon_is_there_ends_with_0() -> None:
    ending, daemon = Ending(), Stopped()
    with ended_by_signals(ending.end):
        with pytest.raises(SystemExit) as ended:
            os.kill(os.getpid(), signal.SIGTERM)
        assert ended.value.code == 0
        ending.daemon = cast("Daemon", daemon)
        os.kill(os.getpid(), signal.SIGTERM)
        assert daemon.stops == 1
