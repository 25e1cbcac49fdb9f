"""A dream, a tick, and a night over the example vault go straight: few calls climb from a low room to a higher one."""

import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
MOST = 12
"""Climbs of one trip. `benchmarks/trips.py VAULT --list` names them."""


def test_each_trip_climbs_at_most_twelve_times() -> None:
    words = [sys.executable, str(REPOSITORY / "benchmarks" / "trips.py"), str(REPOSITORY / "examples" / "vault")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    found = {trip: int(climbs) for trip, climbs in re.findall(r"(\w+): \d+ modules, (\d+) climbs", done.stdout)}
    assert sorted(found) == ["dream", "night", "tick"]
    assert min(found.values()) > 0
    assert max(found.values()) <= MOST, found
