"""What holds of every dream's start and choice, whatever the vault."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from aria_dream.ranking.juxtaposition import Juxtaposition, pair_key
from aria_dream.ranking.walk import FAR, Memory, Start, Walkable, choose_pairs, pick_start

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


@st.composite
def rankings(draw: st.DrawFn) -> list[Juxtaposition]:
    found = []
    for _ in range(draw(st.integers(0, 15))):
        first, second = draw(names), draw(names)
        stones = draw(st.none() | st.lists(names, max_size=3))
        way = None if stones is None else (first, *stones, second)
        found.append(Juxtaposition(from_=first, to=second, score=draw(st.floats(0, 1)), path=way))
    return sorted(found, key=lambda pair: -pair.score)


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


@settings(max_examples=300)
@given(rankings(), memories, st.integers(0, 6), st.integers(0, 120))
def test_what_a_dream_shows(ranked: list[Juxtaposition], memory: Memory, count: int, cooldown_days: int) -> None:
    shown = choose_pairs(ranked, memory, count=count, today=TODAY, cooldown_days=cooldown_days)
    allowed = [
        pair for pair in ranked if pair.from_ != pair.to and pair.distance != 1 and pair.pair not in memory.decided
    ]

    def waits(pair: Juxtaposition) -> bool:
        last = memory.shown.get(pair.pair)
        return last is not None and (TODAY - last).days < cooldown_days

    def far(pair: Juxtaposition) -> bool:
        return pair.distance is None or pair.distance >= FAR

    assert len(shown) <= count
    assert (len(shown) > 0) == (count > 0 and bool(allowed))
    assert set(shown) <= set(allowed)
    assert len({pair.pair for pair in shown}) == len(shown)
    assert len({pair.to for pair in shown}) == len(shown)
    assert [pair for pair in shown if waits(pair)] in ([], list(shown))
    if any(waits(pair) for pair in shown):
        assert all(waits(pair) for pair in allowed)
    first_of_pair = {pair.pair: pair for pair in reversed(allowed)}
    left = sum(far(pair) and waits(pair) == waits(shown[0]) for pair in first_of_pair.values()) if shown else 0
    assert sum(map(far, shown)) >= min(left, -(-len(shown) // 3))
