"""From ticks on any surface to decisions: verified by id, all titles and the text that was shown; never twice the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, assert_never

from aria_dream.errors import Problem
from aria_dream.notes.plain_text import clean
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.review.proposal import is_id_of, plan_mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from aria_dream.notes.dream_note_grammar import LoggedLink
    from aria_dream.notes.ticks import Tick
    from aria_dream.review.proposal import ProposalState, State

Choice = Literal["approve", "know", "reject", "undo", "ask"]
ANOTHER = "this box belongs to another pair of notes, so its tick is void"
NAMELESS = "this box has lost its block id, and its notes do not tell which proposal is meant, so its tick is void"
ROUNDS_TRIED = 12
"""How many rounds of one pair a machine without the journal considers: two years of expiring and coming back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticked:
    """A tick and where it was set."""

    tick: Tick
    surface: str
    """Vault path of the note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the writer wants done with one proposal."""

    id: str
    choice: Choice
    """`ask`: contradictory; nothing is done and every surface gets the asking line."""
    paths: tuple[str, ...]
    """Vault paths of its notes under today's names; for a link the one that gets it first."""
    round: int
    surfaces: tuple[str, ...]
    """Notes on which it was ticked, sorted."""
    known: bool
    """False where this machine's journal has no such proposal, and the line alone vouches for it."""


def decide(
    ticked: Iterable[Ticked],
    states: Mapping[str, ProposalState],
    resolve: Callable[[str, str], str | None],
) -> tuple[tuple[Decision, ...], tuple[Problem, ...]]:
    """One decision per proposal with something left to do, sorted by id, and the ticks that count for nothing and why,
    one Problem a box.

    `resolve(target, surface)`: vault path that a link target means in that note, or None. A tick that is carried out
    already is silent: its line was merely not renewed yet. A tick that has lost its id counts where its notes are those
    of exactly one proposal.
    """
    problems: list[Problem] = []
    by_id: dict[str, list[tuple[Ticked, tuple[str, ...], int]]] = {}
    for tick in ticked:
        one = identified(tick, states)
        verified = NAMELESS if one is None else _verify(one, states.get(one.tick.id), resolve)
        if one is None or isinstance(verified, str):
            problems += _void([tick], str(verified))
        else:
            by_id.setdefault(one.tick.id, []).append((one, *verified))
    decisions = []
    for id_, group in sorted(by_id.items()):
        state = states.get(id_)
        surfaces = [one for one, _, _ in group]
        choice = _choice({one.tick.choice for one in surfaces}, state.state if state else "proposed")
        if choice is None:
            for one in surfaces:
                problems += _void([one], _unheard(one.tick.choice, state))
            continue
        if choice == "ask":
            problems += _void(surfaces, "two boxes are ticked, so nothing is done; untick one, and the other holds")
        _, paths, round_ = group[0]
        decisions.append(
            Decision(
                id=id_, choice=choice, paths=paths, round=round_,
                surfaces=tuple(sorted({one.surface for one in surfaces})), known=state is not None,
            )
        )
    return tuple(decisions), tuple(problems)


def identified(one: Ticked, states: Mapping[str, ProposalState]) -> Ticked | None:
    """The tick with the id that its notes alone tell, where its own is lost; None where they do not tell one."""
    if one.tick.id:
        return one
    kind = one.tick.kind or "link"
    meant = [
        id_
        for id_, state in states.items()
        if state.proposal.kind == kind and titles_match(one.tick.ends, state)
    ]
    lasting = [id_ for id_ in meant if states[id_].state not in ("expired", "stale", "superseded")] or meant
    return replace(one, tick=replace(one.tick, id=lasting[0])) if len(lasting) == 1 else None


def _void(ticked: Iterable[Ticked], said: str) -> list[Problem]:
    return [
        Problem(one.surface, line, said) for one in ticked for line in one.tick.lines or (one.tick.line,) if said
    ]


def _verify(
    one: Ticked, state: ProposalState | None, resolve: Callable[[str, str], str | None]
) -> tuple[tuple[str, ...], int] | str:
    """Paths and round of what was ticked, or why the tick does not count."""
    tick = one.tick
    if state is not None:
        kind = state.proposal.kind
        if tick.kind not in ("", kind) or (kind != "link" and not tick.is_change) or not titles_match(tick.ends, state):
            return ANOTHER
        if tick.choice == "link" and needs_mark(state) and tick.mark != plan_mark(state.edits, tick.shown):
            return "this change is not the one that was shown any more, so the tick is void; it is shown anew"
        return state.paths, state.proposal.round
    if tick.is_change:
        return f"this machine does not know {tick.id}, so its tick waits for the machine that proposed it"
    paths = tuple(path for end in tick.ends if (path := resolve(end.target or end.title, one.surface)) is not None)
    if len(paths) != 2:
        return "a note of this pair is not here (any more), so the tick waits"
    for round_ in range(ROUNDS_TRIED):
        if is_id_of(tick.id, "link", paths, round_):
            return paths, round_
    return ANOTHER


def needs_mark(state: ProposalState) -> bool:
    """Whether a tick has to be held against the text that was shown: where that text waits to be written. A link is
    planned from its notes as they are, and nobody sees its text beside a box."""
    return state.proposal.kind != "link" and state.is_open


def titles_match(ends: Sequence[LoggedLink], state: ProposalState) -> bool:
    """Whether a line's notes are the proposal's: its titles as rendered, or as Obsidian rewrote them at a rename."""
    shown = shown_titles(state)
    now = tuple(clean(title_of(path)) or "untitled" for path in state.paths)
    return len(ends) == len(shown) and all(
        end.title in (as_shown, renamed) for end, as_shown, renamed in zip(ends, shown, now, strict=True)
    )


def shown_titles(state: ProposalState) -> tuple[str, ...]:
    """The titles of its notes as lines of ours say them: those it was proposed with, else their names."""
    proposal = state.proposal
    given = proposal.titles if len(proposal.titles) == len(proposal.paths) else map(title_of, proposal.paths)
    return tuple(clean(title) or "untitled" for title in given)


def _choice(ticked: set[str], state: State) -> Choice | None:
    """The truth table. None: nothing is left to do, or nothing can be done; `_unheard` tells which."""
    wants_link, wants_never, wants_known = "link" in ticked, "never" in ticked, "known" in ticked
    if "undo" in ticked:
        return "undo" if state in ("applied", "rejected") else None
    if "both" in ticked or wants_link + wants_never + wants_known > 1:
        return "ask" if state in ("proposed", "approved", "stale", "expired") else None
    match state:
        case "proposed" | "stale" | "expired":
            return "approve" if wants_link else "know" if wants_known else "reject"
        case "approved":
            return "reject" if wants_never else "know" if wants_known else None
        case "applied" | "rejected" | "rolled_back" | "superseded":
            return None
        case _:
            assert_never(state)


def _unheard(choice: str, state: ProposalState | None) -> str:
    """Why a tick does nothing that comes after the decision; `""` where it says what was done already."""
    assert state is not None  # of what is in no journal something is left to do
    match state.state:
        case "applied" | "superseded" if choice != "link":
            what = "link stands" if state.proposal.kind == "link" else "change is made"
            return f"this {what} already; tick undo first, or remove it by hand"
        case "rejected" if choice not in ("never", "known"):
            what = "pair" if state.proposal.kind == "link" else "change"
            return f"this {what} was refused before; tick undo at that line first"
        case "rolled_back" if choice != "undo":
            return "this was done and undone before, so its tick is void"
        case "proposed" | "stale" | "expired" if choice == "undo" and state.since == state.proposal.at:
            return "there is nothing to undo, so its tick is void"
        case _:
            return ""
