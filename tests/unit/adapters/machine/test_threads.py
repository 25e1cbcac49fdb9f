"""Linear algebra is asked for one thread before it is there to be asked too late."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[4]
TOLD = (
    "import sys, os; from aria_dream.adapters.machine.load import pin_threads; pin_threads();"
    "print(os.environ['OPENBLAS_NUM_THREADS'], os.environ['OMP_NUM_THREADS'], 'numpy' in sys.modules)"
)


def told(**environ: str) -> list[str]:
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    return subprocess.run(
        [sys.executable, "-c", TOLD], cwd=REPOSITORY, env={**clean, **environ}, capture_output=True, text=True,
        check=True, timeout=60,
    ).stdout.split()  # fmt: skip


def test_one_thread_is_asked_for_without_numpy_and_the_users_own_number_stays() -> None:
    assert told() == ["1", "1", "False"]
    assert told(OMP_NUM_THREADS="3") == ["1", "3", "False"]
