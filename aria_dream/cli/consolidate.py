"""`aria-dream consolidate`: one night's work, now: what says the same, what contradicts, what has run out."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from aria_dream.cli.output import counted, echo_json, progress_bar
from aria_dream.cli.vault_argument import vault_argument
from aria_dream.consolidate.one_form import without_forms
from aria_dream.consolidate.open_conflicts import open_conflict
from aria_dream.consolidate.record import ALL_PARTS, Part
from aria_dream.errors import WriteRefusedError
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.usecases.consolidation_run import ConsolidationRun, NightResult, run_consolidation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from aria_dream.consolidate.open_pairs import OpenPair
    from aria_dream.review.proposal import PlannedEdit, Proposal
    from aria_dream.usecases.unresolved_items import SyncCopy

    Made = tuple[Proposal, tuple[PlannedEdit, ...]]

EXIT_INTERRUPTED = 130


@click.command("consolidate")
@vault_argument
@click.option("--resume", is_flag=True, help="Go on exactly where the last night was cut off.")
@click.option("--dry-run", is_flag=True, help="Show what would be proposed and write nothing.")
@click.option(
    "--stage",
    type=click.Choice([part.value for part in Part]),
    help="Do only this: count (triage), compare passages (consolidate), or settle contradictions (resolve).",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(vault: Path, *, resume: bool, dry_run: bool, stage: str | None, as_json: bool) -> None:
    """Look a vault through once for what says the same, contradicts itself or has run out, and propose changes.

    No note of yours is changed: what is found waits in the review, and Dream report.md tells the figures.
    """
    if resume and (dry_run or stage):
        raise click.UsageError("--resume goes on with the run as it was begun; leave out --dry-run and --stage.")
    how = ConsolidationRun(
        parts=(Part(stage),) if stage else ALL_PARTS,
        resume="last" if resume else "never",
        dry_run=dry_run,
        show=progress_bar,
    )
    found = run_consolidation(vault, how)
    if as_json:
        echo_json(_object(found, how))
    else:
        _say(found, how)
    if found.result.interrupted:
        click.echo("Interrupted. Nothing is lost; go on with: aria-dream consolidate VAULT --resume", err=True)
        raise SystemExit(EXIT_INTERRUPTED)
    if found.report is not None and found.report.unwritten:
        raise SystemExit(WriteRefusedError.exit_code)


def _object(found: NightResult, how: ConsolidationRun) -> dict[str, object]:
    """The JSON object of `consolidate --json`; its keys are listed in docs/FORMATS.md."""
    result, run = found.result, found.result.run
    scan = None if run is None else run.scan
    return {
        "id": None if run is None else run.id,
        "night": None if run is None else run.night.isoformat(),
        "judge": None if run is None else run.judge,
        "resumed": result.resumed,
        "written": run is not None and not how.dry_run,
        "stop_reason": result.reason,
        "atoms_scanned": 0 if scan is None else scan.passages,
        "atoms_new": 0 if scan is None else scan.new,
        "candidate_pairs": 0 if scan is None else scan.pairs,
        "pairs_judged": 0 if run is None else run.pairs_judged,
        "contradictions_scanned": 0 if scan is None else scan.conflicts,
        "proposals": [_proposal(made) for made in result.made],
        "resolutions_proposed": 0 if run is None else run.resolutions,
        "escalated": 0 if run is None else run.escalated,
        "left": 0 if run is None else run.left,
        "look_alike": [list(one.titles) for one in result.open_pairs or ()],
        "open_pairs": [_pair(one) for one in result.open_pairs or ()],
        "of_one_form": [list(form.titles) for form in without_forms(result.open_pairs or ())[1]],
        "open_contradictions": [
            {"first": one.first, "second": one.second, "subject": one.subject,
             "first_claim": one.first_claim, "second_claim": one.second_claim}
            for one in map(open_conflict, result.open_conflicts)
        ],
        "sync_copies": [
            {"path": one.path, "original": one.original, "differs": one.differs} for one in found.copies
        ],
        "reminders": [{"path": one.path, "reason": one.reason} for one in found.reminders],
        "applied": list(found.applied),
        "tokens": 0 if run is None else run.tokens,
        "seconds": 0 if run is None else round(run.seconds, 1),
        "report": None if found.report is None else found.report.report or None,
        "said": [*_said(found), *found.waits],
    }


def _said(found: NightResult) -> Iterator[str]:
    """What the writer should know beside the figures, in sentences."""
    yield from filter(None, (found.result.trouble, *found.missing))
    yield from () if found.report is None else found.report.said


def _pair(one: OpenPair) -> dict[str, object]:
    return {
        "first": one.titles[0],
        "second": one.titles[1],
        "paths": [one.pair.first.path, one.pair.second.path],
        "rank": one.pair.rank,
        "cosine": round(one.pair.cosine, 3),
        "overlap": round(one.pair.overlap, 3),
        "reason": one.reason,
        "difference": None if one.difference is None else asdict(one.difference),
        "called_same": one.is_called_same,
    }


def _proposal(made: Made) -> dict[str, object]:
    proposal, edits = made
    return {
        "id": proposal.id,
        "kind": proposal.kind,
        "paths": list(proposal.paths),
        "confidence": proposal.confidence,
        "reason": proposal.reason,
        "judge": proposal.judge,
        "files": [edit.path for edit in edits],
    }


def _say(found: NightResult, how: ConsolidationRun) -> None:
    result, run = found.result, found.result.run
    for sentence in _said(found):
        click.echo(f"{sentence[:1].upper()}{sentence[1:]}.".replace("..", "."), err=True)
    if run is None or run.scan is None:
        click.echo(f"Nothing was begun: {result.reason}.")
        return
    scan = run.scan
    new = f", {scan.new:,} of them for the first time" if scan.new else ""
    click.echo(f"Read {counted(scan.passages, 'passage')}{new} ({run.judge}).")
    near = counted(scan.pairs, "pair lies near each other", "pairs lie near each other")
    claims = counted(scan.conflicts, "pair of claims may disagree", "pairs of claims may disagree")
    click.echo(f"{near}; {claims}.")
    _say_made(result.made, how)
    _say_copies(found.copies)
    _say_open(found, how)
    for sentence in found.waits:
        click.echo(f"{sentence[:1].upper()}{sentence[1:]}.")
    if found.applied:
        click.echo(f"Applied without a tick, as you allowed: {', '.join(found.applied)}.")
    if result.reason and not result.interrupted:
        rest = f" {counted(run.left, 'question waits', 'questions wait')} for the next night." if run.left else ""
        click.echo(f"It ended early: {result.reason}.{rest}")
    spent = f" and {run.tokens:,} tokens" if run.tokens else ""
    click.echo(f"It took {run.seconds:,.0f} s{spent}.")
    if found.report is not None and found.report.report:
        click.echo(f"Figures: {found.report.report}.")


def _say_open(found: NightResult, how: ConsolidationRun) -> None:
    """What is left to a person, list by list."""
    result = found.result
    if result.open_conflicts:
        click.echo(f"{counted(len(result.open_conflicts), 'contradiction')} left to you:")
        for one in map(open_conflict, result.open_conflicts[:10]):
            click.echo(f"  {one.first}: {' '.join(one.first_claim.split())}")
            click.echo(f"    ↔ {one.second}: {' '.join(one.second_claim.split())}")
        if len(result.open_conflicts) > 10:
            click.echo(f"  … and {len(result.open_conflicts) - 10} more (--json lists them)")
    asked, forms = without_forms(result.open_pairs or ())
    if asked:
        click.echo(f"{counted(len(asked), 'pair')} that a judge could not decide, nearest first:")
        _say_pairs(asked)
        if not how.dry_run:
            click.echo("  Say of each in the review note whether the two are different, or the same.")
    for form in forms:
        named = ", ".join(form.titles[:3])
        click.echo(f"{len(form.titles)} passages are built alike, and not asked about one by one: {named} …")
    if found.reminders:
        click.echo(f"{counted(len(found.reminders), 'note')} to look at again:")
        for reminder in found.reminders[:10]:
            click.echo(f"  {title_of(reminder.path)}: {reminder.reason}")


def _say_made(made: Sequence[Made], how: ConsolidationRun) -> None:
    if not made:
        click.echo("Nothing new is proposed.")
        return
    click.echo(f"{counted(len(made), 'proposal')}:")
    for proposal, _ in made:
        alike = len({title.casefold() for title in proposal.titles}) < len(proposal.titles)
        names = [path.removesuffix(".md") for path in proposal.paths] if alike else proposal.titles
        click.echo(f"  {proposal.kind.replace('_', ' ')}: {' ↔ '.join(names)} ({proposal.id})")
        click.echo(f"    {proposal.reason} ({proposal.judge}, {proposal.confidence:.2f})")
    if how.dry_run:
        click.echo("A rehearsal: nothing was written.")
    else:
        click.echo("They wait in the review note; see one with: aria-dream review VAULT ID")


def _say_copies(copies: Sequence[SyncCopy]) -> None:
    if copies:
        click.echo(f"{counted(len(copies), 'copy', 'copies')} left by a sync:")
    for one in copies[:10]:
        click.echo(f"  {one.original} ← {one.path}: {one.differs}")
    if len(copies) > 10:
        click.echo(f"  … and {len(copies) - 10} more (--json lists them)")


def _say_pairs(pairs: Sequence[OpenPair]) -> None:
    for one in pairs[:10]:
        what = f": {one.difference.what}" if one.difference is not None else ""
        click.echo(f"  {' ↔ '.join(one.titles)}{what}")
    if len(pairs) > 10:
        click.echo(f"  … and {len(pairs) - 10} more (--json lists them)")
