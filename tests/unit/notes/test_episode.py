"""`runs.jsonl`: what a dream leaves behind to be remembered and to be dreamt again."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from random import Random

import pytest

from aria_dream.notes.episode import (
    EpisodeRecord,
    ShownPair,
    episode_id,
    find_episode,
    memory_of,
    memory_used,
    parse_episodes,
    render_episode,
)
from aria_dream.ranking.walk import Memory, Start, Walkable, pick_start

AT = datetime(2026, 11, 30, 3, 12, 7, tzinfo=timezone(timedelta(hours=1)))
MEMORY = Memory(
    starts=("A.md", "Compost.md"),
    shown={("Compost.md", "X.md"): date(2026, 11, 1), ("P.md", "Q.md"): date(2026, 11, 2)},
    decided=frozenset({("B.md", "Compost.md"), ("P.md", "R.md")}),
)
EPISODE = EpisodeRecord(
    id=episode_id(AT, 4711),
    at=AT,
    kind="idle dream",
    seed=4711,
    start="Compost.md",
    rule="low-degree pick",
    cold=True,
    vault_hash="ab12",
    params={"juxtapositions_per_dream": 3, "version": "0.1.0"},
    memory=memory_used(MEMORY, "Compost.md"),
    pairs=(ShownPair(from_="Compost.md", to="Sourdough.md", score=0.7141, proposal="k3f7q2"),),
    judge="embedded judge",
)


def test_what_is_written_is_read_back() -> None:
    later = replace(EPISODE, extra={"mood": "blue"}, id="x")
    text = render_episode(EPISODE) + '{"type":"consolidate"}\n' + render_episode(EPISODE) + render_episode(later)
    assert parse_episodes(text) == ((EPISODE, later), ())
    assert parse_episodes("\ufeff" + text.replace("\n", "\r\n")) == ((EPISODE, later), ())
    assert EPISODE.id == "20261130-031207-4711"


def test_memory_is_kept_to_what_the_dream_can_have_used() -> None:
    assert EPISODE.memory.starts == MEMORY.starts
    assert dict(EPISODE.memory.shown) == {("Compost.md", "X.md"): date(2026, 11, 1)}
    assert EPISODE.memory.decided == {("B.md", "Compost.md")}


@pytest.mark.parametrize(
    "spoilt",
    [{"at": "yesterday"}, {"at": "2026-11-30T03:12:00"}, {"seed": "4711"}, {"seed": True}, {"pairs": [{"from": "a"}]},
     {"memory": []}, {"start": None}, {"memory": {"shown": [["a", "b", "no day"]]}}],
)  # fmt: skip
def test_a_record_that_is_none_is_reported_and_the_others_stand(spoilt: dict[str, object]) -> None:
    bad = json.dumps(json.loads(render_episode(EPISODE)) | spoilt)
    episodes, problems = parse_episodes(f"{bad}\n{render_episode(EPISODE)}")
    assert episodes == (EPISODE,)
    assert [problem.line for problem in problems] == [1]


def test_a_torn_last_line_is_no_problem() -> None:
    text = render_episode(EPISODE)
    assert parse_episodes(text + text[:50]) == ((EPISODE,), ())
    assert parse_episodes(text[:50]) == ((), ())


def test_memory_of_earlier_dreams() -> None:
    old = replace(EPISODE, at=AT - timedelta(days=90), start="Old.md", pairs=(replace(EPISODE.pairs[0], to="Z.md"),))
    memory = memory_of([old, EPISODE], decided=frozenset(), today=AT.date(), cooldown_days=90)
    assert memory.starts == ("Old.md", "Compost.md")
    assert memory.shown == {("Compost.md", "Sourdough.md"): date(2026, 11, 30)}


def test_a_dream_dated_later_than_now_is_one_of_now_or_none() -> None:
    """A clock was set back by a day; or by years, and then it would hold its pair back for years."""
    for ahead, shown in ((timedelta(days=1), 1), (timedelta(days=4000), 0)):
        memory = memory_of([EPISODE], decided=frozenset(), today=(AT - ahead).date(), cooldown_days=90)
        assert len(memory.shown) == shown


def test_find_by_what_the_note_says() -> None:
    other = replace(EPISODE, id="20261130-041500-12")
    both = [EPISODE, other]
    assert find_episode(both, EPISODE.id) == (EPISODE,)
    assert find_episode(both, "2026-11-30 03:12") == (EPISODE,)
    assert find_episode(both, "2026-11-30") == (EPISODE, other)
    assert find_episode(both, "2025") == ()
    assert find_episode(both, "no digits") == ()


def test_a_replay_starts_where_the_dream_did_whatever_happened_since() -> None:
    notes = [Walkable(path=f"{name}.md", words=50, degree=1, visible=True) for name in "abcdef"]
    memory = Memory()
    for seed in range(10):
        start = pick_start(notes, Random(seed), memory)
        assert isinstance(start, Start)
        record = replace(EPISODE, seed=seed, start=start.path, memory=memory_used(memory, start.path))
        ((read,), _) = parse_episodes(render_episode(record))
        assert pick_start(notes, Random(seed), read.memory) == start
        memory = replace(memory, starts=(*memory.starts, start.path))


def test_all_starts_that_a_dream_looked_at_are_remembered() -> None:
    several = replace(EPISODE, params={"tried": ["a.md", "b.md"]})
    memory = memory_of([several, EPISODE], decided=frozenset(), today=AT.date(), cooldown_days=90)
    assert memory.starts == ("a.md", "b.md", EPISODE.start)
