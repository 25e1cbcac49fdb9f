"""The cases about reading, each in a scratch copy, through the cases' own runner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conformance.test_write_cases import run_case

if TYPE_CHECKING:
    from pathlib import Path

CASES = ("01", "02", "04", "05", "08", "11", "13", "36", "37", "57", "65")


@pytest.mark.parametrize("number", CASES)
def test_case(cases: Path, tmp_path: Path, number: str) -> None:
    row = run_case(cases, number, tmp_path, {})
    assert row[4] == "pass", row
