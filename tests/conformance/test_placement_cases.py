"""The cases about changes that somebody approved, each in a scratch copy, through the cases' own runner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conformance.test_write_cases import run_case

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("exchange", ["none", "native"])
@pytest.mark.parametrize("number", ["09", "25", "28", "62"])
def test_case(cases: Path, tmp_path: Path, number: str, exchange: str) -> None:
    row = run_case(cases, number, tmp_path, {"ARIA_CASE_EXCHANGE": exchange})
    assert row[4] == "pass", row
    assert not row[6], "every check of these cases is one the runner makes"
