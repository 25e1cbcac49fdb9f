"""Python imports this at its start: a child of a test with a faked clock has the same clock."""

from __future__ import annotations

import os
from datetime import datetime, timedelta

import time_machine

_ahead_s = float(os.environ["FAKED_CLOCK_AHEAD_S"])
time_machine.travel(datetime.now().astimezone() + timedelta(seconds=_ahead_s), tick=True).start()
