"""What the commands of a review share: the ids that were typed, and what a review session did or will do, printed."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from aria_dream.cli.output import counted
from aria_dream.cli.vault_argument import chosen_vault
from aria_dream.notes.change_grammar import DONE, LEADS
from aria_dream.review.showing import change_name
from aria_dream.usecases.undo import LINKED_BY_HAND

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from aria_dream.errors import AriaDreamError
    from aria_dream.review.proposal import ProposalState, State
    from aria_dream.usecases.own_lines import OpenTicks
    from aria_dream.usecases.review import Settlement

WORDS: Mapping[State, str] = {
    "proposed": "waiting for you",
    "approved": "approved",
    "rejected": "refused",
    "applied": "applied",
    "rolled_back": "undone",
    "stale": "not done",
    "expired": "lapsed",
    "superseded": "linked otherwise",
}
"""What a state is called to its writer."""


def split_words(words: Sequence[str]) -> tuple[Path, tuple[str, ...]]:
    """The vault, and the ids behind it. A single word that is no folder is an id in the vault around us."""
    if not words:
        return chosen_vault(None), ()
    first = chosen_vault(words[0])
    if first.exists() or "/" in words[0] or len(words) > 1:
        return first, tuple(words[1:])
    return chosen_vault(None), tuple(words)


def settlement_object(done: Settlement, failed: AriaDreamError | None = None) -> dict[str, object]:
    """What a run did, as JSON; with `error` and `exit_code` where it ends with an error."""
    return {
        "applied": done.applied,
        "approved": done.approved,
        "rejected": done.rejected,
        "undone": done.undone,
        "asked": done.asked,
        "stale": done.stale,
        "excluded": done.excluded,
        "expired": done.expired,
        "superseded": done.superseded,
        "waiting": done.waiting,
        "ignored": [asdict(problem) for problem in done.ignored],
        "unwritten": list(dict.fromkeys(done.unwritten)),
        "kept": done.kept,
        "not_undone": [
            {"id": one.id, "path": one.problem.path, "line": one.problem.line, "said": one.problem.message}
            for one in done.not_undone
        ],
        "said": list(dict.fromkeys([*map(str, done.ignored), *done.said, *filter(None, [done.home])])),
        **({} if failed is None else {"error": str(failed), "exit_code": failed.exit_code}),
    }


def say_settlement(done: Settlement, states: Mapping[str, ProposalState]) -> None:
    """What a run did, in sentences."""
    for id_ in dict.fromkeys(done.applied):
        state = states[id_]
        click.echo(f"{DONE[state.proposal.kind].capitalize()}: {notes_of(state)} ({id_})")
    for name, ids in (
        ("Never again", done.rejected),
        ("Undone", done.undone),
        ("Both boxes are ticked; untick one of", done.asked),
        ("Lapsed", done.expired),
    ):
        for id_ in dict.fromkeys(ids):
            click.echo(f"{name}: {titles(states[id_])} ({id_})")
    for id_ in dict.fromkeys(done.superseded):
        click.echo(f"{_sentence(states[id_].reason or LINKED_BY_HAND)}: {titles(states[id_])} ({id_})")
    for problem in done.ignored:
        click.echo(f"Not counted: {problem}.")
    for sentence in dict.fromkeys(done.said):
        click.echo(f"{_sentence(sentence)}.")
    if done.kept:
        click.echo(f"{counted(done.kept, 'answer is', 'answers are')} kept for the next night.")
    for id_ in dict.fromkeys(done.stale):
        click.echo(f"See what would be written now: aria-dream review VAULT {id_}")
    if done.home:
        click.echo(done.home)


def _sentence(text: str) -> str:
    return text if "/" in text.partition(" ")[0] else f"{text[:1].upper()}{text[1:]}"


def titles(state: ProposalState) -> str:
    """The proposal as a person names it: both titles of a pair, `Merge: Keep ← Drop` of a change."""
    return change_name(state)


def notes_of(state: ProposalState) -> str:
    """Its notes, without what is to be done with them."""
    return change_name(state).removeprefix(f"{LEADS[state.proposal.kind]}: ")


def tick_remarks(ticks: OpenTicks) -> tuple[str, ...]:
    """What is ticked and no fault, as sentences without a full stop."""
    found = []
    if ticks.waiting:
        said = counted(ticks.waiting, "tick or approval is", "ticks or approvals are")
        found.append(f"{said} not carried out yet; `aria-dream apply` does it now")
    if ticks.kept:
        found.append(f"{counted(ticks.kept, 'answer is', 'answers are')} kept for the next night")
    return (*found, *filter(None, [ticks.home.rstrip(".")]))


def ticks_object(ticks: OpenTicks) -> dict[str, object]:
    """As `status --json` and `doctor --json` print it."""
    return {
        "ignored": [asdict(problem) for problem in ticks.ignored],
        "hindered": [asdict(problem) for problem in ticks.hindered],
        "waiting": ticks.waiting,
        "kept": ticks.kept,
    }
