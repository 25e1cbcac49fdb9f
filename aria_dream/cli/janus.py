"""`aria-dream janus`: an independent review of what waits for a decision, by whoever never saw the dream."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, assert_never

import click

from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.models.independent_reviewer import NotAsked
from aria_dream.cli.output import counted, echo_json, progress_bar
from aria_dream.cli.review_session import split_words, titles
from aria_dream.judging.triage_prompt import Unreadable
from aria_dream.reach.janus import Falls, Stands, Unsure, word_of
from aria_dream.usecases.janus import NoReader, case_of, independent_reviews, open_reader, waiting_for_janus
from aria_dream.usecases.reach_course import open_reacher
from aria_dream.usecases.review import Settlement, renew_lines
from aria_dream.usecases.review_run import find_proposal, open_session

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from aria_dream.adapters.models.independent_reviewer import IndependentReviewer
    from aria_dream.review.proposal import ProposalState
    from aria_dream.usecases.janus import Looked
    from aria_dream.usecases.review import ReviewSession

_COLOURS = {"STANDS": "green", "FALLS": "red", "UNSURE": "yellow"}


@click.command("janus")
@click.argument("words", nargs=-1, metavar="[VAULT] [ID ...]")
@click.option("--dry-run", is_flag=True, help="Show what would be asked, and whom; ask nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(words: tuple[str, ...], *, dry_run: bool, as_json: bool) -> None:
    """Have proposals reviewed independently, by a model that never saw the dream.

    Without ids: every open proposal that Janus has not seen and can weigh, links and claims first, then merges and
    settled contradictions. The verdict (STANDS, FALLS or UNSURE) and its reason stand beside the proposal from then on;
    you still decide.
    """
    vault, ids = split_words(words)
    said: list[str] = []
    with open_session(vault, show=progress_bar) as session:
        states = session.records().states
        chosen = [find_proposal(states, name) for name in ids] if ids else waiting_for_janus(tuple(states.values()))
    zone = session.now.tzinfo
    assert zone is not None  # the session's clock is aware
    if not chosen:
        _say_nothing("nothing waits for an independent review", as_json=as_json, said=said)
        return
    places = find_places()
    codex = open_reacher(session.vault, places)
    reader = open_reader(session.vault, places.state, said, codex=codex, zone=zone, rehearsal=dry_run)
    if isinstance(reader, NoReader):
        _say_nothing(reader.reason, as_json=as_json, said=said)
        return
    if dry_run:
        _rehearse(session, chosen, reader, as_json=as_json)
        return
    with progress_bar(f"Asking {reader.name}") as progress:
        looked = independent_reviews(
            session.vault, session.store, chosen, reader,
            clock=lambda: datetime.now().astimezone(zone), look=lambda: read_dreamt_vault(vault, places),
            progress=progress,
        )  # fmt: skip
    if any(isinstance(one.outcome, Stands | Falls | Unsure) for one in looked):
        said += _renew(vault)
    if as_json:
        echo_json({"judge": reader.name, "reason": "", "looked": [_object(one) for one in looked], "said": said})
    else:
        _print(looked, said, reader)


def _renew(vault: Path) -> list[str]:
    """Shows the verdicts wherever the proposals stand; what could not be written."""
    done = Settlement()
    with open_session(vault, show=progress_bar) as session:
        renew_lines(session, done)
    return done.said


def _say_nothing(reason: str, *, as_json: bool, said: Sequence[str]) -> None:
    if as_json:
        echo_json({"judge": None, "reason": reason, "looked": [], "said": list(said)})
        return
    for sentence in said:
        click.echo(sentence, err=True)
    click.echo(f"{reason[:1].upper()}{reason[1:]}.")


def _rehearse(
    session: ReviewSession, chosen: Sequence[ProposalState], reader: IndependentReviewer, *, as_json: bool
) -> None:
    texts: list[dict[str, object]] = []
    for state in chosen:
        case = case_of(session.vault, state, leaves=reader.leaves)
        text, why = ("", case.reason) if isinstance(case, NotAsked) else (reader.text_of(case), "")
        texts.append({"id": state.proposal.id, "text": text, "reason": why})
    if as_json:
        echo_json({"judge": reader.name, "leaves": reader.leaves, "texts": texts})
        return
    where = "another machine" if reader.leaves else "this machine"
    for one in texts:
        if one["text"]:
            click.echo(f"{one['id']}: {reader.name}, on {where}, would be asked:\n{one['text']}")
        else:
            click.echo(f"{one['id']}: not asked, {one['reason']}.")
    click.echo("A rehearsal: nothing was asked, sent or spent.")


def _verdict(one: Looked) -> tuple[str, str]:
    """The verdict's word, `""` where there is none; and the reason."""
    match one.outcome:
        case Stands() | Falls() | Unsure():
            return word_of(one.outcome), one.outcome.reason
        case Unreadable() | NotAsked():
            return "", one.outcome.reason
        case _:
            assert_never(one.outcome)


def _object(one: Looked) -> dict[str, object]:
    word, reason = _verdict(one)
    return {
        "id": one.state.proposal.id,
        "kind": one.state.proposal.kind,
        "titles": list(one.state.proposal.titles),
        "verdict": word or None,
        "reason": reason,
    }


def _print(looked: Sequence[Looked], said: Sequence[str], reader: IndependentReviewer) -> None:
    for sentence in said:
        click.echo(sentence, err=True)
    for one in looked:
        word, reason = _verdict(one)
        shown = click.style(word, fg=_COLOURS[word], bold=True) if word else "no verdict"
        click.echo(f"{shown}  {titles(one.state)} ({one.state.proposal.id})")
        click.echo(f"        {reason}")
    seen = sum(bool(_verdict(one)[0]) for one in looked)
    if seen:
        click.echo(f"{reader.name} looked at {counted(seen, 'proposal')}. You decide: aria-dream review VAULT")
