"""What this machine remembers of a vault: its dreams (`runs.jsonl`) and its proposals (`proposals.jsonl`)."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from aria_dream.adapters.disk.journal import Journal, read_text
from aria_dream.adapters.disk.lock import writer_lock
from aria_dream.consolidate.record import parse_consolidations
from aria_dream.consolidate.settled import parse_heard, parse_settled
from aria_dream.errors import BusyError, StateDamagedError, WriteRefusedError
from aria_dream.notes.episode import EpisodeRecord, episode_record, memory_of, parse_episodes
from aria_dream.notes.jsonl import as_mapping, as_text
from aria_dream.ranking.juxtaposition import pair_key
from aria_dream.ranking.walk import Memory
from aria_dream.review.journal import fold, parse_journal
from aria_dream.review.proposal import ProposalState, decided_pairs, proposed_record
from aria_dream.schedule.run_record import judge_record, last_trouble

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date, datetime
    from pathlib import Path

    from aria_dream.consolidate.record import Consolidation
    from aria_dream.consolidate.settled import Settled
    from aria_dream.errors import Problem
    from aria_dream.review.proposal import Proposal
    from aria_dream.schedule.run_record import Occasion

PROPOSALS = "proposals.jsonl"
HASHES = "note-hashes.json"
RUNS = "runs.jsonl"
T = TypeVar("T")
_Stamp: TypeAlias = tuple[int, int, int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """The journals of one vault as they read now."""

    states: Mapping[str, ProposalState]
    """Every proposal by id, in order of first appearance."""
    episodes: tuple[EpisodeRecord, ...]
    """Oldest first."""
    problems: tuple[Problem, ...]

    def memory(self, *, today: date, cooldown_days: int) -> Memory:
        """What the dreams so far leave to the next one, on `today` in the writer's zone.

        A pair is remembered by its proposal too, so that one that another machine showed counts here as well.
        """
        decided = decided_pairs(self.states.values())
        memory = memory_of(self.episodes, decided=decided, today=today, cooldown_days=cooldown_days)
        shown = dict(memory.shown)
        for state in self.states.values():
            day = state.proposal.at.date()
            if state.proposal.kind == "link" and len(state.paths) == 2 and (today - day).days < cooldown_days:
                pair = pair_key(*state.paths)
                shown[pair] = max(day, shown.get(pair, day))
        return Memory(starts=memory.starts, shown=shown, decided=decided)


class RecordStore:
    """The journals in a vault's state folder. Neither needs to exist.

    A use case makes one and hands it on. Each journal is parsed once: what this store appends is folded in, and a file
    that somebody else has written since (a night and a tick may work at once) is parsed again.
    """

    def __init__(self, state_folder: Path) -> None:
        self._folder = state_folder
        lock = writer_lock(state_folder)
        self._proposals = Journal(state_folder / PROPOSALS, lock)
        self._runs = Journal(state_folder / RUNS, lock)
        self._parsed: dict[Callable[[str], Any], tuple[_Stamp, Any]] = {}

    @property
    def folder(self) -> Path:
        """The vault's state folder."""
        return self._folder

    def read(self) -> Records:
        """Both journals, read back.

        Raises:
            StateDamagedError: a journal is there and cannot be read at all; what it says must not be guessed.
        """
        states, faults = self._parse(PROPOSALS, parse_journal)
        episodes, more = self._parse(RUNS, parse_episodes)
        named = [(PROPOSALS, problem) for problem in faults] + [(RUNS, problem) for problem in more]
        problems = tuple(replace(problem, path=str(self._folder / name)) for name, problem in named)
        return Records(states=states, episodes=episodes, problems=problems)

    def _parse(self, name: str, parse: Callable[[str], T]) -> T:
        """What `parse` makes of a journal, made anew only where the file is not as it was left."""
        stamp = _stamp(self._folder / name)  # before the file is read: what comes in between is seen the next time
        known = self._parsed.get(parse)
        if known is None or known[0] != stamp or stamp is None:
            known = self._parsed[parse] = (stamp, parse(read_text(self._folder / name)))
        found: T = known[1]
        return found

    def _append_run(self, record: Mapping[str, object]) -> None:
        place, known = self._folder / RUNS, self._parsed.get(parse_episodes)
        before = _stamp(place)
        length = self._runs.append(record)
        if known is not None and record.get("type") != "dream" and (now := _follows(place, known[0], before, length)):
            self._parsed[parse_episodes] = (now, known[1])

    def note_hashes(self) -> dict[str, str]:
        """Vault path to content hash of the proposals' notes when the vault was last read; empty where not known."""
        try:
            found = json.loads((self._folder / HASHES).read_bytes())
            return {path: as_text(value) for path, value in as_mapping(found).items()}
        except (OSError, ValueError, TypeError, RecursionError):
            return {}

    def remember_hashes(self, hashes: Mapping[str, str]) -> None:
        """Keep `hashes` for the next `note_hashes`. A disk that refuses is passed over: only a rename may be missed."""
        temp = self._folder / f".{HASHES}.{os.getpid()}"
        try:
            temp.write_text(json.dumps(dict(hashes), sort_keys=True) + "\n", encoding="ascii")
            temp.replace(self._folder / HASHES)
        except OSError:
            with suppress(OSError):
                temp.unlink()

    def propose(self, proposals: Sequence[Proposal]) -> None:
        """Journal each as `proposed`."""
        for proposal in proposals:
            self.note(proposed_record(proposal))

    def note(self, record: Mapping[str, object]) -> None:
        """Journal any other record of a proposal."""
        place, known = self._folder / PROPOSALS, self._parsed.get(parse_journal)
        before = _stamp(place)
        length = self._proposals.append(record)
        if known is not None and (now := _follows(place, known[0], before, length)):
            states, faults = fold([(0, json.loads(json.dumps(record)))], known[1][0])
            if not faults:  # whose line number the whole file tells
                self._parsed[parse_journal] = (now, (states, known[1][1]))

    def remember(self, episode: EpisodeRecord) -> None:
        """Journal a dream."""
        self._append_run(episode_record(episode))

    def note_run(self, record: Mapping[str, object]) -> None:
        """Journal any other record of a run."""
        self._append_run(record)

    def note_judge(self, at: datetime, occasion: Occasion, trouble: str) -> None:
        """Journal what went wrong with the judge; where nothing did, only that an earlier trouble is over.

        What cannot be kept is passed over: nothing rests on it.
        """
        with suppress(WriteRefusedError, StateDamagedError, BusyError):
            known = last_trouble(read_text(self._folder / RUNS), occasion)
            if trouble or known is not None:
                self._append_run(judge_record(at, occasion, trouble))

    def consolidations(self) -> tuple[Consolidation, ...]:
        """Every consolidation, oldest first. Raises StateDamagedError as `read` does."""
        return parse_consolidations(read_text(self._folder / RUNS))

    def settled(self) -> dict[str, Settled]:
        """By key what a person has said of findings without a proposal. Raises StateDamagedError as `read` does."""
        return self._parse(RUNS, parse_settled)

    def heard(self) -> frozenset[str]:
        """Keys of all that a person ever said so, what was taken back included. Raises as `read` does."""
        return self._parse(RUNS, parse_heard)


def _stamp(path: Path) -> _Stamp:
    """What tells one state of a file from another, its size first; None where it cannot be looked at."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0, 0, 0
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def _follows(path: Path, known: _Stamp, before: _Stamp, length: int) -> _Stamp:
    """The stamp of a file that was read at `known` and is longer by nothing but our line of `length`; else None. A torn
    line that ours had to end makes it longer, and is a fault from now on."""
    now = _stamp(path)
    is_ours = now is not None and before is not None and known == before and now[0] == before[0] + length
    return now if is_ours else None
