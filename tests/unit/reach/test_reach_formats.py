"""What docs/FORMATS.md says of the reach's files is what they are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from aria_dream.adapters.gate.ledger import LOCK
from aria_dream.reach.answer_cache import VERDICTS, parse_answer_cache, render_cached_answer
from aria_dream.reach.budget import EXCESS, INITIATED, NOTED, Resolution, parse_ledger, render_row

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "FORMATS.md").read_text("utf-8")


def test_the_examples_read_and_are_written_so() -> None:
    ledger, answer_cache = re.findall(r"```tsv\n(.*?)```\n", PAGE, re.DOTALL)
    rows, problems = parse_ledger(ledger)
    assert not problems
    assert "".join(map(render_row, rows)) == ledger
    answered, faults = parse_answer_cache(answer_cache)
    assert not faults
    assert "".join(map(render_cached_answer, answered)) == answer_cache


def test_every_verdict_is_documented() -> None:
    (cell,) = re.findall(r"^\| verdict \| (`initiated`.*) \|$", PAGE, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", cell)) == {INITIATED, EXCESS, NOTED, *get_args(Resolution)}
    (answer_cache,) = re.findall(r"^\| verdict \| (`homes` and.*) \|$", PAGE, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", answer_cache)) - {"reach_neither_cooldown_days"} == VERDICTS
    assert f"`{LOCK}`" in PAGE
