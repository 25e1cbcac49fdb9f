"""A verdict becomes a survivor or a drop, and never loses its reason."""

from __future__ import annotations

from aria_dream.judging.triage_prompt import Drop, Keep, Unreadable, outcome
from aria_dream.ranking.juxtaposition import Dropped, Juxtaposition, Survivor

PAIR = Juxtaposition(from_="a.md", to="b.md", score=0.7, path=("a.md", "c.md", "b.md"))


def test_each_verdict_has_one_outcome() -> None:
    assert outcome(PAIR, Keep(0.8, "both speak of rye"), "embedded judge") == Survivor(
        juxtaposition=PAIR, probability=0.8, reason="both speak of rye", judge="embedded judge"
    )
    assert outcome(PAIR, Drop(0.1, "hardly a word"), "embedded judge") == Dropped(
        juxtaposition=PAIR, probability=0.1, reason="hardly a word", judge="embedded judge"
    )
    assert outcome(PAIR, Unreadable("no JSON in the answer"), "some-model") == Dropped(
        juxtaposition=PAIR, probability=None, reason="no JSON in the answer", judge="some-model", unreadable=True
    )
