"""What docs/FORMATS.md says of the reach's files is what they are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from aria_dream.adapters.gate.ledger import LOCK
from aria_dream.reach.budget import EXCESS, INITIATED, NOTED, Resolution, parse_ledger, render_row
from aria_dream.reach.memo import VERDICTS, parse_memo, render_memo_row

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "FORMATS.md").read_text("utf-8")


def test_the_examples_read_and_are_written_so() -> None:
    ledger, memo = re.findall(r"```tsv\n(.*?)```\n", PAGE, re.DOTALL)
    rows, problems = parse_ledger(ledger)
    assert not problems
    assert "".join(map(render_row, rows)) == ledger
    answered, faults = parse_memo(memo)
    assert not faults
    assert "".join(map(render_memo_row, answered)) == memo


def test_every_verdict_is_documented() -> None:
    (cell,) = re.findall(r"^\| verdict \| (`initiated`.*) \|$", PAGE, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", cell)) == {INITIATED, EXCESS, NOTED, *get_args(Resolution)}
    (memo,) = re.findall(r"^\| verdict \| (`homes` and.*) \|$", PAGE, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", memo)) - {"reach_neither_cooldown_days"} == VERDICTS
    assert f"`{LOCK}`" in PAGE
