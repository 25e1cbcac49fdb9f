"""`aria-dream eval consolidate` as a person runs it, over a part of the corpus."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from aria_dream.evals.triage_score import parse_pairs
from tests.e2e.test_dream import run

REPOSITORY = Path(__file__).resolve().parents[2]
CORPUS = REPOSITORY / "examples" / "consolidate-corpus" / "pairs.jsonl"
SECOND = REPOSITORY / "benchmarks" / "near-pairs.jsonl"
FORMATS = REPOSITORY / "docs" / "FORMATS.md"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Every ninth pair."""
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(CORPUS.read_text(encoding="utf-8").split("\n")[::9]), encoding="utf-8")
    return path


def test_figures_add_up_and_are_documented(corpus: Path) -> None:
    result = json.loads(run("eval", "consolidate", "--corpus", corpus, "--json").stdout)
    page = FORMATS.read_text(encoding="utf-8").partition("### `aria-dream eval consolidate --json`")[2]
    rows = [row.split("|")[1] for row in page.partition("###")[0].splitlines() if row.startswith("| `")]
    assert set(result) == {name for row in rows for name in re.findall("`([^`]+)`", row)}
    assert result["pairs"] == len(result["verdicts"]) == 21
    assert result["wrong"] == []
    totals = [
        sum(kind[name] for kind in result["kinds"]) for name in ("merge", "not_duplicate", "escalated", "no_atom")
    ]
    assert sum(totals) == result["pairs"]
    assert totals[0] + totals[1] == result["decided"] >= 8
    coming = [verdict["comes"] for verdict in result["verdicts"].values()]
    assert sum(kind["coming"] for kind in result["kinds"]) == sum(coming)
    assert 0 < sum(coming) < len(coming)
    recalls = [point["recall"] for point in result["curves"]["cosine"]]
    assert recalls == sorted(recalls, reverse=True)


def test_a_wrong_decision_is_named(corpus: Path) -> None:
    line = json.loads(corpus.read_text(encoding="utf-8").split("\n")[0])
    corpus.write_text(json.dumps({**line, "label": "distinct"}) + "\n", encoding="utf-8")
    said = run("eval", "consolidate", "--corpus", corpus).stdout
    assert "it decides 1 and leaves 0 to others; 1 decision against the label." in said
    assert f"{line['id']}: merge, word for word the same" in said
    assert "Of 0 pairs labelled the same, 0 would come before it in a vault." in said


def test_a_second_look_brings_paraphrases_before_the_judge_and_no_other_note_of_the_subject(tmp_path: Path) -> None:
    """Over the corpus that the second look was chosen by: in other words, in thirteen languages."""
    kinds_wanted = ('"kind": "paraphrase"', '"kind": "same_topic"')
    lines = [line for line in SECOND.read_text(encoding="utf-8").split("\n") if any(k in line for k in kinds_wanted)]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("\n".join(lines), encoding="utf-8")
    result = json.loads(run("eval", "consolidate", "--corpus", corpus, "--json").stdout)
    kinds = {kind["kind"]: kind for kind in result["kinds"]}
    at_once = [one for one in result["verdicts"].values() if one["cosine"] >= 0.8 and one["overlap"] >= 0.12]
    assert len(at_once) <= 3
    assert kinds["paraphrase"]["coming"] >= 15
    assert kinds["same_topic"]["coming"] == 0
    assert result["wrong"] == []


def test_what_is_no_pair_is_told(corpus: Path) -> None:
    for wrong in (
        "x",
        "[]",
        '{"id": 1}',
        '{"id":1,"kind":"k","label":"maybe","a":{"path":"","text":""},"b":{"path":"","text":""}}',
    ):
        assert [problem.line for problem in parse_pairs(f"\n{wrong}\n")[1]] == [2]
    corpus.write_text("x\n", encoding="utf-8")
    done = run("eval", "consolidate", "--corpus", corpus, check=False)
    assert done.returncode == 2
    assert "this line is no labelled pair" in done.stderr
