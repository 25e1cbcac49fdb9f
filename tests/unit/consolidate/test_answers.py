"""Answers of a real model to the two questions of a night, as they came: read, or not made anything of.

`smollm2-consolidation.jsonl` was recorded from llama.cpp with SmolLM2-135M, at temperature 0 and 0.9, with the schemas
of `questions` (`steps`), and with an earlier one that gave confidence as a number with bounds (`bounds`).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aria_dream.consolidate.answers import parse_conflict_verdict, parse_pair_verdict
from aria_dream.consolidate.verdict import Unreadable

PLACE = Path(__file__).resolve().parents[2] / "fixtures" / "completions" / "smollm2-consolidation.jsonl"
ROWS = [json.loads(line) for line in PLACE.read_text(encoding="utf-8").splitlines()]
SAID = {
    "merge": "Merge", "not_duplicate": "NotDuplicate", "keep_a": "KeepA", "keep_b": "KeepB",
    "both_valid": "BothValid", "needs_human": "NeedsHuman",
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_an_answer_as_it_came(row: dict[str, str]) -> None:
    said = json.loads(row["answer"])
    is_pair = row["kind"] == "pair"
    verdict = (
        parse_pair_verdict(row["answer"], row["first"], row["second"])
        if is_pair
        else parse_conflict_verdict(row["answer"])
    )
    if row["schema"] == "steps":
        assert said["confidence"] in [step / 20 for step in range(21)]
    if not 0 <= said["confidence"] <= 1:
        assert verdict == Unreadable(reason="the answer's confidence is no number from 0 to 1")
    elif not said["reason"].strip():
        assert verdict == Unreadable(reason="the answer gives no reason")
    elif said["verdict"] != "normalize":
        assert not isinstance(verdict, Unreadable)
        assert type(verdict).__name__ == SAID[said["verdict"]]
        assert verdict.confidence == said["confidence"]


def test_there_are_enough_of_them() -> None:
    kinds = {(row["kind"], row["schema"]) for row in ROWS}
    assert kinds == {(kind, schema) for kind in ("pair", "conflict") for schema in ("steps", "bounds")}
