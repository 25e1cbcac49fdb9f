"""Cases 47 (limits that name their reset), 52 (torn ledger), 54 (parallel reservations) and 55 (local days)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ADAPTER = Path(__file__).with_name("adapter.py")


@pytest.mark.parametrize("number", ["47", "52", "54", "55"])
def test_case(cases: Path, tmp_path: Path, number: str) -> None:
    out = tmp_path / "results.tsv"
    runner = str(cases / "run_cases.py")
    command = [sys.executable, runner, "--adapter", str(ADAPTER), "--only", number, "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    (_, row) = out.read_text().splitlines()
    assert row.split("\t")[4] == "pass", row
