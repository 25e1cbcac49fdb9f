"""Cases 43 (open stdin), 45 (a helper that stays), 46 (prompts as arguments), 70 (inherited vault and environment)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ADAPTER = Path(__file__).with_name("adapter.py")


@pytest.mark.parametrize("number", ["43", "45", "46", "70"])
def test_case(cases: Path, tmp_path: Path, number: str) -> None:
    out = tmp_path / "results.tsv"
    runner = str(cases / "run_cases.py")
    command = [sys.executable, runner, "--adapter", str(ADAPTER), "--only", number, "--out", str(out)]
    reading, writing = os.pipe()  # an open and silent standard input, as a service may have
    try:
        done = subprocess.run(command, stdin=reading, capture_output=True, text=True, timeout=120, check=False)
    finally:
        os.close(reading)
        os.close(writing)
    assert done.returncode == 0, done.stderr
    (_, row) = out.read_text().splitlines()
    assert row.split("\t")[4] == "pass", row
