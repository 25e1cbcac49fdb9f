"""What holds of every dream's start and choice, whatever the vault."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from aria_dream.judging.places import Place, Surprise, choose_pairs
from aria_dream.ranking.juxtaposition import Juxtaposition, pair_key
from aria_dream.ranking.walk import Memory, Start, Walkable, pick_start

TODAY = date(2026, 11, 30)
names = st.sampled_from([f"{letter}.md" for letter in "abcdefghij"])
notes = st.lists(
    st.builds(
        Walkable,
        path=names,
        words=st.integers(0, 100),
        degree=st.integers(0, 50),
        visible=st.booleans(),
        daily=st.booleans(),
        template=st.booleans(),
        index=st.booleans(),
        plugin=st.booleans(),
    ),
    unique_by=lambda note: note.path,
    max_size=10,
)
days = st.integers(0, 200).map(lambda ago: TODAY - timedelta(days=ago))
pairs = st.tuples(names, names).map(lambda ends: pair_key(*ends))
memories = st.builds(
    Memory,
    starts=st.lists(names, max_size=12).map(tuple),
    shown=st.dictionaries(pairs, days, max_size=8),
    decided=st.frozensets(pairs, max_size=8),
)


@settings(max_examples=150)
@given(notes, memories, st.integers())
def test_same_seed_same_start_and_always_a_visible_one(vault: list[Walkable], memory: Memory, seed: int) -> None:
    picked = pick_start(vault, Random(seed), memory)
    assert picked == pick_start(vault[::-1], Random(seed), memory)
    possible = {note.path for note in vault if note.visible and not note.plugin}
    if possible:
        assert isinstance(picked, Start)
        assert picked.path in possible
    else:
        assert not isinstance(picked, Start)


places = st.sampled_from(get_args(Place))
found = st.lists(
    st.builds(Juxtaposition, from_=names, to=names, score=st.floats(0, 1), path=st.none()).filter(
        lambda pair: pair.from_ != pair.to
    ),
    unique_by=lambda pair: pair.pair,
    max_size=15,
)


@settings(max_examples=300)
@given(found, st.data(), st.integers(0, 6), st.sampled_from(get_args(Surprise)))
def test_what_a_dream_shows(ranked: list[Juxtaposition], data: st.DataObject, count: int, surprise: Surprise) -> None:
    place = {pair.pair: data.draw(places) for pair in ranked}
    shown = choose_pairs(ranked, count=count, surprise=surprise, place=lambda pair: place[pair.pair])
    assert set(shown) <= set(ranked)
    assert len(shown) <= count
    ends = [path for pair in shown for path in pair.pair]
    assert len(set(ends)) == len(ends)
    left = [pair for pair in ranked if not set(ends) & set(pair.pair)]
    assert len(shown) == count or not left
    if shown and any(place[pair.pair] == "far" for pair in ranked) and surprise != "near":
        assert place[shown[0].pair] == "far"
