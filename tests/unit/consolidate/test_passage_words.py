"""The gist of two passages never says anything else than the judge who reads them, and it says it of nearly all."""

from __future__ import annotations

import json
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from aria_dream.consolidate.comparison import compare_signatures, embedded_compare
from aria_dream.consolidate.passage_words import PassageSignature, most_shared, read_passage, share_of, signature_of
from aria_dream.consolidate.passages import Passage, fingerprint_of, passages_of_note
from aria_dream.consolidate.verdict import NearPair, PairVerdict
from aria_dream.markdown.note import parse_note
from tests.unit.consolidate.test_comparison import CORPUS

_WORDS = st.sampled_from(
    ["the", "that", "The", "can't", "cannot", "can", "not", "colour", "color", "Grey", "grey", "Gray", "3", "three",
     "`code x`", "**bold**", "- [ ] ", "\n\n", "水", "is", "organise", "organize", "\n# Head\n", "a", "won't", "will"]
)  # fmt: skip
_texts = st.lists(_WORDS, max_size=14).map(" ".join)


def passage(text: str, path: str = "A.md") -> Passage:
    return Passage(
        id=path, path=path, headings=(), start=0, end=len(text), text=text, words=text, fingerprint=fingerprint_of(text)
    )


def by_gist(pair: NearPair, first: PassageSignature, second: PassageSignature) -> PairVerdict | None:
    return compare_signatures(first, second, cosine=pair.cosine, overlap=pair.overlap, rank=pair.rank)


@given(_texts, _texts, st.sampled_from([0.0, 0.34, 0.35, 0.9]), st.sampled_from([0.0, 0.15, 0.9]))
def test_a_gist_says_what_the_judge_says_or_nothing(one: str, two: str, cosine: float, overlap: float) -> None:
    first, second = passage(one), passage(two, "B.md")
    pair = NearPair(first=first, second=second, cosine=cosine, overlap=overlap, rank=7)
    said = by_gist(pair, signature_of(one), signature_of(two))
    assert said is None or said == embedded_compare(pair)
    assert by_gist(pair, signature_of(one), signature_of(one)) is None


@given(_texts, _texts)
def test_what_is_shared_is_never_underrated(one: str, two: str) -> None:
    share = share_of(read_passage(one).keys, read_passage(two).keys)
    assert most_shared(signature_of(one), signature_of(two)) >= share


def test_every_third_pair_of_the_corpus() -> None:
    """All labelled pairs, and notes of the corpus that do not belong together."""
    rows = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    sides = [
        next(iter(passages_of_note(row[side]["path"], parse_note(row[side]["text"]))), None)
        for row in rows
        for side in "ab"
    ]
    passages = [passage for passage in sides if passage is not None]
    signatures = {id(passage): signature_of(passage.text) for passage in passages}
    labelled = [(one, two) for one, two in zip(sides[::2], sides[1::2], strict=True) if one and two]
    known = 0
    for one, two in (*labelled, *[*combinations(passages, 2)][::97]):
        pair = NearPair(first=one, second=two, cosine=0.9, overlap=0.5, rank=1)
        said = by_gist(pair, signatures[id(one)], signatures[id(two)])
        assert said is None or said == embedded_compare(pair)
        known += said is not None
    assert known > 500
