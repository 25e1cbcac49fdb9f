"""What a reach is made on: the best survivor of a dream, dreamt again, that nobody has answered; or the oldest seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.adapters.codex.reach_asks import (
    Question,
    answered_in_notes,
    pair_question,
    read_open_seeds,
    seed_question,
)
from aria_dream.policy.file_layout import choose_log, elsewhere_seeds
from aria_dream.privacy.sharing import Withheld
from aria_dream.ranking.juxtaposition import pair_key, title_of
from aria_dream.reach.answer_cache import find_answer
from aria_dream.review.proposal import DECIDED
from aria_dream.usecases.dream import DreamRequest

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import date, datetime

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.adapters.state.record_store import Records
    from aria_dream.notes.episode import EpisodeRecord
    from aria_dream.ranking.juxtaposition import Survivor
    from aria_dream.reach.answer_cache import CachedAnswer
    from aria_dream.usecases.dream import DreamResult
    from aria_dream.world import VaultFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A question to be asked, or why there is none."""

    question: Question | None
    reason: str = ""
    """One sentence without a full stop; `""` where there is a question."""
    said: tuple[str, ...] = ()
    """What was passed over and why, in sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """The dream that is dreamt again."""

    request: DreamRequest
    origin: str
    """As a block says it, behind `survivor`."""
    logged: EpisodeRecord | None
    """None: no dream of this start is logged here, so it is a new one."""


def choose_dream(episodes: Sequence[EpisodeRecord], at: datetime, start: str | None) -> Again:
    """The last logged dream (from `start`, where that is given), to be replayed; else a new one, which is not written.

    L0 and L1 are deterministic, so a replay over an unchanged vault finds what the writer has read in the dream note.
    `at`: aware, in the writer's zone. The seed of a new dream is the day, so that a second call finds the same.
    """
    logged = next((one for one in reversed(episodes) if start is None or one.start == start), None)
    if logged is None:
        request = DreamRequest(at=at, seed=at.date().toordinal(), start=start, dry_run=True)
        return Again(request=request, origin="of a dream made for this reach and not written", logged=None)
    night = logged.at.astimezone(at.tzinfo)
    day = "" if night.date() == at.date() else f" of {night.date().isoformat()}"
    request = DreamRequest(at=at, seed=logged.seed, dry_run=True, replay=logged)
    return Again(request=request, origin=f"from the {night:%H:%M} {logged.kind}{day}", logged=logged)


def choose_pair(
    vault: DreamtVault,
    files: VaultFiles,
    records: Records,
    answer_cache: Sequence[CachedAnswer],
    again: Again,
    result: DreamResult,
) -> Chosen:
    """The top survivor that is neither answered nor decided and may leave; every other one before it is said.

    `vault`: as it is now, after the dream. `answer_cache`: what this machine remembers; what the dream notes tell
    beyond it counts as well. `result`: of the dream that `again` asked for.
    """
    if result.dreamt is None:
        what = f"the dream {again.origin.removeprefix('from ')}, dreamt again," if again.logged else "a dream"
        return Chosen(question=None, reason=f"nothing to reach: {what} brought nothing ({result.reason})")
    said = [*result.said, _source(again)]
    closed = {
        pair_key(*state.paths)
        for state in records.states.values()
        if state.proposal.kind == "link" and len(state.paths) == 2 and state.state in DECIDED
    }
    at = again.request.at
    assert at.tzinfo is not None
    rows = (*answer_cache, *answered_in_notes(vault, files, at.tzinfo))
    days = vault.live.policy.settings.reach_neither_cooldown_days
    note = choose_log(vault.names, vault.home, at.date())
    for survivor in result.dreamt.kept:
        answered = find_answer(rows, survivor.juxtaposition.pair, at, neither_cooldown_days=days)
        if answered is not None:
            said.append(_skip(survivor, answered))
        elif survivor.juxtaposition.pair in closed:
            said.append(f"Passed over: “{_name(survivor)}”, which you have decided.")
        else:
            question = pair_question(vault, survivor, note=note, origin=_origin(again, survivor))
            if isinstance(question, Question):
                return Chosen(question=question, said=tuple(said))
            said.append(f"Passed over: “{_name(survivor)}”: {question.reason}.")
    reason = "nothing to reach: every survivor of that dream is answered, decided or may not leave; nothing was spent"
    return Chosen(question=None, reason=reason, said=tuple(said))


def _source(again: Again) -> str:
    if again.logged is None:
        which = "No dream from that note" if again.request.start is not None else "No dream"
        return f"{which} is logged on this machine, so one was dreamt for this reach; it is not written."
    return f"Dreamt again: {again.logged.id}, the survivors {again.origin}."


def _origin(again: Again, survivor: Survivor) -> str:
    seen = again.logged is not None and survivor.juxtaposition.pair in {pair.pair for pair in again.logged.pairs}
    return f"survivor {again.origin}" + ("" if seen or again.logged is None else ", dreamt again over a changed vault")


def _name(survivor: Survivor) -> str:
    return f"{title_of(survivor.juxtaposition.from_)} ↔ {title_of(survivor.juxtaposition.to)}"


def _skip(survivor: Survivor, answered: CachedAnswer) -> str:
    day = answered.at.date().isoformat()
    return f"Passed over: “{_name(survivor)}”, answered already: {answered.verdict.upper()} on {day}."


def choose_seed(vault: DreamtVault, files: VaultFiles, *, answered: Collection[tuple[str, date | None]] = ()) -> Chosen:
    """The oldest open external-novelty seed that may leave. A seed is never looked up in the memo: its status tells.

    `answered`: title and date of those whose answer could not be written yet.
    """
    found = read_open_seeds(vault, files)
    said = [f"To mend: {vault.home.seeds}:{problem.line}: {problem.message}." for problem in found.problems]
    if found.seeds and found.withheld:
        reason = f"nothing to reach: nothing of {vault.home.seeds} may leave ({found.withheld})"
        return Chosen(question=None, reason=reason, said=tuple(said))
    unanswered = [seed for seed in found.seeds if (seed.title, seed.deposited_on) not in answered]
    for seed in unanswered:
        question = seed_question(vault, seed)
        if isinstance(question, Question):
            return Chosen(question=question, said=tuple(said))
        assert isinstance(question, Withheld)
        said.append(f"Passed over: the seed “{seed.title}”: {question.reason}.")
    if not found.seeds:
        said += elsewhere_seeds(vault.home)
    if unanswered:
        reason = "no open external-novelty seed may leave this machine"
    elif found.seeds:
        reason = "every open external-novelty seed is answered, and its block waits for a dream note"
    else:
        reason = "there is no open external-novelty seed; leave one with `aria-dream seeds add TITLE --source URL`"
    return Chosen(question=None, reason=f"nothing to reach: {reason}", said=tuple(said))
