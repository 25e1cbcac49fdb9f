"""How `aria-dream reach` shows what came of it, for people and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import click

from aria_dream.cli.output import counted as amount
from aria_dream.cli.reach_block_shown import block_lines
from aria_dream.cli.reach_budget import budget_object, budget_text
from aria_dream.reach.reach import Answer
from aria_dream.reach.reach_block import NoAnswer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.adapters.codex.reach_probe import ProbeResult
    from aria_dream.adapters.gate.egress import Egress
    from aria_dream.errors import Problem
    from aria_dream.policy.settings import Settings
    from aria_dream.reach.budget import Spent
    from aria_dream.usecases.reach import ReachResult

ASKING = """\
This is the first reach on this machine. It lets text of your notes leave it.
  What:    of two notes their titles, the beginning of each (at most 4,000 characters), the titles on the way
           between them and why the judge kept them; or one seed of yours with its source, and which of
           your notes it names. Nothing else.
  To whom: {destination}, with live web search, under your own login.
  Never:   notes that `exclude`, `never_send`, `#private` or `dream: false` keep back, nor their names, not even
           in letters that only look like them; keys, passwords, e-mail addresses, phone and card numbers are blanked.
  To read the exact text first: aria-dream reach --dry-run with the same options.
The confirmation holds for this machine and for every vault, until `aria-dream consent --withdraw` takes it back. Where
a policy says `allow_remote_triage: on`, it lets a judge on another machine have such excerpts too, and where one says
`janus_backend: codex`, an independent review at proposals.
"""


_SPENT = {
    "refused": "the server refused it",
    "failed": "the server or the connection failed",
    "aborted": "it was ended before it answered",
}


def verdict_of(result: ReachResult) -> str:
    """The verdict in a word or two, for the summary."""
    match result.outcome:
        case None:
            return "nothing was asked"
        case Answer() as answer:
            return answer.verdict.upper() + (" without a source" if answer.is_unsourced_orphan else "")
        case NoAnswer(sent=True):
            return f"{_SPENT.get(result.resolution or '', 'no answer')}, spent"
        case NoAnswer():
            return "nobody could be asked, nothing was sent"
        case _:
            return "unparsed"


def say_reach(result: ReachResult, settings: Settings) -> None:
    """Prints the block or the reason, and last one line with kind, verdict and what is left."""
    for sentence in result.said:
        click.echo(sentence)
    budget = budget_text(result.counted, settings)
    if result.reason:
        click.echo(f"{result.reason[:1].upper()}{result.reason[1:]}.")
        click.echo(f"reach ({result.kind}): {verdict_of(result)}. {budget}")
        return
    if result.outcome is None:
        _say_rehearsal(result, budget)
        return
    if result.block is not None and (result.written or result.waits):
        for line in block_lines(result.block, result.destination):
            click.echo(line)
        click.echo("")
    elif isinstance(result.outcome, NoAnswer):
        click.echo(f"No answer: {result.outcome.reason}.")
    if result.written:
        is_done = result.kind == "external" and isinstance(result.outcome, Answer)
        more = "the seed is marked as dreamt" if is_done else "nothing else was changed"
        click.echo(f"Written to {result.note}; {more}.")
    elif result.waits and result.reach_id:
        click.echo(f"The answer is kept, but no dream note takes it now: {result.waits}.")
        click.echo("It goes into the next one that does: with the next reach, or by the daemon.")
    elif result.waits:
        click.echo(f"The dream note could not say so: {result.waits}.")
    for sentence in result.led_to:
        if result.block is None or not result.block.no_link or result.block.no_link not in sentence:
            click.echo(sentence)
    click.echo(f"reach ({result.kind}): {verdict_of(result)}. {budget}")


def _say_rehearsal(result: ReachResult, budget: str) -> None:
    click.echo(f"To:      {result.destination}")
    click.echo(f"About:   {result.subject}")
    click.echo(f"Blanked: {blanked_text(result.blanked)}")
    click.echo(budget)
    size = amount(len(result.prompt), "character")
    click.echo(f"The text, {size}; only the codes in the marks around your words are new in each call:")
    click.echo("─" * 72)
    click.echo(result.prompt, nl=False)
    click.echo("─" * 72)
    click.echo("A rehearsal: nothing was sent, nothing was logged, nothing was spent, nothing was written.")


def blanked_text(blanked: Sequence[tuple[str, int]]) -> str:
    """What was taken out, in words."""
    return ", ".join(f"{kind} ({count})" for kind, count in blanked) or "nothing"


def reach_object(result: ReachResult, settings: Settings) -> dict[str, object]:
    """The JSON object of a reach; its keys are listed in docs/FORMATS.md."""
    return {
        "kind": result.kind,
        "reason": result.reason,
        "subject": result.subject or None,
        "destination": result.destination,
        "resolution": result.resolution,
        "answer": _answer_object(result),
        "note": result.note or None,
        "written": result.written,
        "waits": result.waits or None,
        "id": result.reach_id or None,
        "prompt": result.prompt if result.outcome is None and result.prompt else None,
        "blanked": dict(result.blanked),
        "budget": budget_object(result.counted, settings),
        "said": [*result.said, *result.led_to],
    }


def _answer_object(result: ReachResult) -> dict[str, object] | None:
    block = result.block
    match result.outcome:
        case None:
            return None
        case Answer() as answer:
            return {
                "verdict": answer.verdict,
                "edge": answer.edge or None,
                "between": None if block is None or block.between is None else [link.title for link in block.between],
                "no_link": (block.no_link or None) if block is not None else None,
                "argument": list(answer.argument),
                "sources": [{"url": one.url or None, "title": one.title or None} for one in answer.sources],
                "finding": answer.is_finding,
            }
        case NoAnswer() as none:
            return {"verdict": None, "why": none.reason, "sent": none.sent, "partial": none.partial or None}
        case unparsed:
            return {"verdict": None, "raw": unparsed.raw}
    assert_never(result.outcome)


def say_egress(found: Sequence[Egress], problems: Sequence[Problem]) -> None:
    """Prints what left this machine, oldest first."""
    if not found:
        click.echo("Nothing has left this machine.")
    for one in found:
        when = f"{one.at.astimezone():%Y-%m-%d %H:%M:%S}"
        click.echo(f"{when}  {one.purpose:7} to {one.destination}: {amount(one.characters, 'character')}")
        click.echo(f"    blanked: {blanked_text(one.blanked)}; sha256 {one.sha256}")
    for problem in problems:
        click.echo(f"To mend: {problem}", err=True)
    if found:
        click.echo(
            f"{amount(len(found), 'text')} of this account, of every vault. A line is written before its text leaves, "
            "so one of them may not have arrived."
        )


def egress_object(found: Sequence[Egress], problems: Sequence[Problem]) -> dict[str, object]:
    """The JSON object of `reach --log`."""
    return {
        "egress": [
            {
                "at": one.at.isoformat(),
                "purpose": one.purpose,
                "destination": one.destination,
                "sha256": one.sha256,
                "characters": one.characters,
                "excerpts": one.excerpts,
                "blanked": dict(one.blanked),
            }
            for one in found
        ],
        "problems": [str(problem) for problem in problems],
    }


def say_probe(result: ProbeResult, left: Spent | None, settings: Settings, *, place: str) -> None:
    """Prints what a probe showed, and the line that belongs into the policy note at `place`."""
    budget = budget_text(left, settings)
    if result.reason:
        click.echo(f"{result.reason[:1].upper()}{result.reason[1:]}.")
        said = "nothing was sent" if result.resolution in (None, "unsent") else f"{result.resolution}, spent"
        click.echo(f"reach (probe): {said}. {budget}")
        return
    click.echo(f"{result.destination}, Codex CLI {result.version or 'of unknown version'}, answered:")
    click.echo(f"  {result.answer}")
    searched = amount(result.web_turns, "web turn")
    click.echo(f"Searched the web live: {'yes, ' + searched if result.web_turns else 'no'}.")
    if result.left or result.changed:
        click.echo(f"Written where nothing may be written: {', '.join((*result.left, *result.changed))}.")
        click.echo("Something may have changed these files meanwhile; if nothing did, do not reach from this machine.")
    else:
        files = amount(result.files, "file")
        click.echo(f"Written: nothing. Its own folders are empty, and the vault's {files} are as before.")
    click.echo(f"It took {amount(result.requests, 'metered request')} and {amount(round(result.seconds), 'second')}.")
    if result.line:
        policy = place or "the policy note"
        if result.requests == settings.requests_per_reach:
            click.echo(f"{policy} counts a reach as that already, so nothing has to be changed there:")
        else:
            click.echo(f"Write this line into {policy}, so that the budget counts what a reach costs:")
        click.echo(f"  {result.line}")
    verdict = "the wall holds" if result.holds else "the wall was not shown to hold"
    click.echo(f"reach (probe): {verdict}. {budget}")


def probe_object(result: ProbeResult, left: Spent | None, settings: Settings) -> dict[str, object]:
    """The JSON object of `reach --probe`."""
    return {
        "kind": "probe",
        "reason": result.reason,
        "destination": result.destination,
        "version": result.version or None,
        "resolution": result.resolution,
        "holds": result.holds,
        "answer": result.answer or None,
        "web_turns": result.web_turns,
        "requests": result.requests,
        "seconds": round(result.seconds, 3),
        "left": list(result.left),
        "changed": list(result.changed),
        "line": result.line or None,
        "budget": budget_object(left, settings),
    }
