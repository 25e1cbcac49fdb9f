"""What `runs.jsonl` keeps of a dream: enough to remember it, and to dream it again exactly."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING

from aria_dream.errors import Problem
from aria_dream.notes.jsonl import (
    as_list,
    as_mapping,
    as_moment,
    as_number,
    as_text,
    as_whole,
    parse_records,
    render_record,
)
from aria_dream.ranking.juxtaposition import pair_key
from aria_dream.ranking.walk import STARTS_REMEMBERED, Memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import date

VERSION = 1
_EMPTY: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPair:
    """A pair that a dream showed."""

    from_: str
    to: str
    score: float
    proposal: str
    """Id of its proposal."""

    @property
    def pair(self) -> tuple[str, str]:
        """The pair without direction."""
        return pair_key(self.from_, self.to)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRecord:
    """One dream, as a line of `runs.jsonl` with `"type": "dream"`."""

    id: str
    """`episode_id`: local date, time and seed, so that a reader of the note can name it."""
    at: datetime
    """Aware, in the writer's zone."""
    kind: str
    """`idle dream`, …, as in the log's heading."""
    seed: int
    start: str
    """Vault path."""
    rule: str
    cold: bool
    vault_hash: str
    """Hash of the state of the vault that was dreamt (paths and content hashes); a replay on another one says so."""
    params: Mapping[str, object] = field(default_factory=lambda: _EMPTY)
    """Every setting and version the result depends on, by its name in the policy."""
    memory: Memory = field(default_factory=Memory)
    """What pick and choice knew (`memory_used`): to dream it again with."""
    pairs: tuple[ShownPair, ...] = ()
    judge: str = ""
    extra: Mapping[str, object] = field(default_factory=lambda: _EMPTY)
    """Keys of a later version, kept."""


def episode_id(at: datetime, seed: int) -> str:
    """`20261130-031207-4711`: local date and time, and the seed."""
    return f"{at:%Y%m%d-%H%M%S}-{seed}"


def memory_used(memory: Memory, start: str) -> Memory:
    """The part of `memory` that a dream from `start` can have used; small enough to stand in every record."""
    return Memory(
        starts=memory.starts[-STARTS_REMEMBERED:],
        shown={pair: day for pair, day in memory.shown.items() if start in pair},
        decided=frozenset(pair for pair in memory.decided if start in pair),
    )


def memory_of(
    episodes: Sequence[EpisodeRecord], *, decided: AbstractSet[tuple[str, str]], today: date, cooldown_days: int
) -> Memory:
    """What the dreams so far, oldest first, leave to the next one; pairs shown longer ago than the cooldown are left
    out, and so are those shown longer ahead, by a clock that was wrong."""
    shown: dict[tuple[str, str], date] = {}
    cooldown = timedelta(days=cooldown_days)
    for episode in episodes:
        for pair in episode.pairs:
            if abs(episode.at.date() - today) < cooldown:
                shown[pair.pair] = max(episode.at.date(), shown.get(pair.pair, episode.at.date()))
    starts = [path for episode in episodes[-STARTS_REMEMBERED:] for path in _tried(episode)]
    return Memory(starts=tuple(starts[-STARTS_REMEMBERED:]), shown=shown, decided=decided)


def _tried(episode: EpisodeRecord) -> list[str]:
    """Vault paths of all starts that the dream looked at."""
    tried = episode.params.get("tried")
    return [str(path) for path in tried] if isinstance(tried, list) and tried else [episode.start]


def render_episode(episode: EpisodeRecord) -> str:
    """The record as one line of JSON with its line end; `parse_episodes` gives it back."""
    return render_record(episode_record(episode))


def episode_record(episode: EpisodeRecord) -> dict[str, object]:
    """The record, ready for the journal."""
    return {
        **episode.extra,
        "type": "dream",
        "version": VERSION,
        "id": episode.id,
        "at": episode.at.isoformat(),
        "kind": episode.kind,
        "seed": episode.seed,
        "start": episode.start,
        "rule": episode.rule,
        "cold": episode.cold,
        "vault_hash": episode.vault_hash,
        "params": dict(episode.params),
        "memory": {
            "starts": list(episode.memory.starts),
            "shown": [[*pair, day.isoformat()] for pair, day in sorted(episode.memory.shown.items())],
            "decided": [list(pair) for pair in sorted(episode.memory.decided)],
        },
        "pairs": [
            {"from": pair.from_, "to": pair.to, "score": pair.score, "proposal": pair.proposal}
            for pair in episode.pairs
        ],
        "judge": episode.judge,
    }


_KNOWN = frozenset(
    "type version id at kind seed start rule cold vault_hash params memory pairs judge".split()  # noqa: SIM905 - a list of JSON keys reads better as a line
)


def parse_episodes(text: str) -> tuple[tuple[EpisodeRecord, ...], tuple[Problem, ...]]:
    """Every dream in `runs.jsonl`, in order, and the lines that should be one and are not.

    Records of other types are none of ours; a repeated id is read once (two copies of a line after a sync or a crash).
    """
    records, problems = parse_records(text)
    episodes: dict[str, EpisodeRecord] = {}
    faults = list(problems)
    for line, record in records:
        if record.get("type") != "dream":
            continue
        try:
            episode = _episode(record)
        except (KeyError, TypeError, ValueError):
            faults.append(Problem("", line, "this record of a dream lacks something and was left out"))
        else:
            episodes.setdefault(episode.id, episode)
    return tuple(episodes.values()), tuple(faults)


def _episode(record: Mapping[str, object]) -> EpisodeRecord:
    """Raises KeyError, TypeError or ValueError where the record is not one."""
    memory = as_mapping(record.get("memory", {}))
    return EpisodeRecord(
        id=as_text(record["id"]),
        at=as_moment(record["at"]),
        kind=as_text(record["kind"]),
        seed=as_whole(record["seed"]),
        start=as_text(record["start"]),
        rule=as_text(record.get("rule", "")),
        cold=record.get("cold") is True,
        vault_hash=as_text(record.get("vault_hash", "")),
        params=as_mapping(record.get("params", {})),
        memory=Memory(
            starts=tuple(as_text(path) for path in as_list(memory.get("starts", []))),
            shown=dict(_shown(row) for row in as_list(memory.get("shown", []))),
            decided=frozenset(_pair(row) for row in as_list(memory.get("decided", []))),
        ),
        pairs=tuple(_shown_pair(as_mapping(row)) for row in as_list(record.get("pairs", []))),
        judge=as_text(record.get("judge", "")),
        extra={key: value for key, value in record.items() if key not in _KNOWN},
    )


def _shown_pair(row: Mapping[str, object]) -> ShownPair:
    return ShownPair(
        from_=as_text(row["from"]),
        to=as_text(row["to"]),
        score=as_number(row["score"]),
        proposal=as_text(row.get("proposal", "")),
    )


def _shown(row: object) -> tuple[tuple[str, str], date]:
    first, second, day = as_list(row)
    return pair_key(as_text(first), as_text(second)), datetime.fromisoformat(as_text(day)).date()


def _pair(row: object) -> tuple[str, str]:
    first, second = as_list(row)
    return pair_key(as_text(first), as_text(second))


def find_episode(episodes: Iterable[EpisodeRecord], name: str) -> tuple[EpisodeRecord, ...]:
    """Those that `name` can mean: an id, or the beginning of one in any punctuation (`2026-11-30 03:12`).

    One is the answer, none or several are the caller's error to report.
    """
    wanted = re.sub(r"[^0-9]", "", name)
    found = []
    for episode in episodes:
        if episode.id == name:
            return (episode,)
        if wanted and re.sub(r"[^0-9]", "", episode.id).startswith(wanted):
            found.append(episode)
    return tuple(found)
