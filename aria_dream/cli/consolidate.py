"""`aria-dream consolidate`: one night's work, now: what says the same, what contradicts, what has run out."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from aria_dream.cli.desk import add_settlement, open_desk
from aria_dream.cli.output import counted, echo_json, progress_bar
from aria_dream.cli.vault_argument import vault_argument
from aria_dream.consolidate.open_conflicts import open_conflict
from aria_dream.consolidate.record import ALL_PARTS, Part
from aria_dream.consolidation_cycle import ConsolidationRequest, ConsolidationResult, consolidate_once
from aria_dream.consolidation_morning import tell_morning
from aria_dream.consolidation_parts import open_night_parts
from aria_dream.desk import Desk, Settlement
from aria_dream.effects.dreamt_vault import read_dreamt_vault
from aria_dream.effects.files import DiskVault
from aria_dream.effects.graduation import read_graduated
from aria_dream.effects.leave import AskingVault
from aria_dream.effects.live_policy import read_live_policy
from aria_dream.effects.lock import consolidation_lock
from aria_dream.effects.places import find_places
from aria_dream.effects.presence import read_zone
from aria_dream.effects.records import RecordBook
from aria_dream.policy.clock import local_now
from aria_dream.policy.nightly import latest_night
from aria_dream.review_cycle import settle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aria_dream.consolidate.record import Consolidation
    from aria_dream.consolidation_morning import Morning
    from aria_dream.effects.dreamt_vault import DreamtVault
    from aria_dream.effects.places import Places
    from aria_dream.review.proposal import PlannedEdit, Proposal

    Made = tuple[Proposal, tuple[PlannedEdit, ...]]

EXIT_INTERRUPTED = 130
MOST_LOOKS = 50
"""A change that moves notes makes the vault be read again before the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """How a sitting is to go."""

    parts: tuple[Part, ...] = ALL_PARTS
    resume: Literal["never", "night", "last"] = "never"
    night: date | None = None
    """None: the night that this moment belongs to."""
    dry_run: bool = False
    quiet_s: float = 0.0
    leave: Callable[[str], None] = lambda _unit: None
    """Asked before each unit of work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sat:
    """What came of it."""

    result: ConsolidationResult
    morning: Morning | None = None
    """None where nothing was begun, or it is only a rehearsal, or it was cut off."""
    applied: tuple[str, ...] = ()
    """Ids of what was applied without a tick."""
    missing: tuple[str, ...] = field(default=())
    """What the night had to do without."""


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
    how = Sitting(
        parts=(Part(stage),) if stage else ALL_PARTS,
        resume="last" if resume else "never",
        dry_run=dry_run,
    )
    found = sit(vault, how)
    if as_json:
        echo_json(_object(found, how))
    else:
        _say(found, how)
    if found.result.interrupted:
        click.echo("Interrupted. Nothing is lost; go on with: aria-dream consolidate VAULT --resume", err=True)
        raise SystemExit(EXIT_INTERRUPTED)


def sit(vault: Path, how: Sitting) -> Sat:
    """One sitting over a vault, and the morning it leaves.

    Raises:
        BusyError: another consolidation is at work.
        VaultUnreadableError, WriteRefusedError, StateDamagedError, MissingPartError: as `consolidate_once`.
    """
    places = find_places()
    root = Path(os.path.realpath(vault))
    with ExitStack() as held:
        if root.is_dir():  # else the reading says so
            state = read_live_policy(root, places).state_folder(places)
            held.enter_context(consolidation_lock(state).held())
            if not how.dry_run:  # before the vault is read: a half-written note of ours is none
                DiskVault(root, state).recover()
        with progress_bar("Reading notes") as progress:
            seen = read_dreamt_vault(root, places, progress=_asking(how, progress))
        zone = seen.live.policy.settings.timezone
        at = local_now(datetime.now().astimezone(), zone)
        desk = _desk(seen, places, at, how)
        night = how.night or latest_night(at, seen.live.policy.settings.quiet_hours, read_zone(zone)[0]).date
        if how.resume == "night" and (done := _ended(desk, night)) is not None:
            return _told_again(root, how, done)
        request = ConsolidationRequest(at=at, night=night, parts=how.parts, resume=how.resume, dry_run=how.dry_run)
        result, missing = _consolidate(desk, places, request, how, zone)
        if result.run is None or how.dry_run or result.interrupted:
            return Sat(result=result, missing=missing)
        applied = _let_pass(root, how)
        with open_desk(root) as fresh:
            morning = tell_morning(
                _with(fresh, how),
                result.run,
                look_alike=result.look_alike,
                conflicts=tuple(map(open_conflict, result.open_conflicts)) if Part.RESOLVE in how.parts else None,
            )
        return Sat(result=result, morning=morning, applied=applied, missing=missing)


def _asking(how: Sitting, progress: Callable[[int, int], None] | None) -> Callable[[int, int], None]:
    """Asks for leave at each step, and shows it where somebody looks."""

    def step(done: int, total: int) -> None:
        how.leave("reading")
        if progress is not None:
            progress(done, total)

    return step


def _desk(vault: DreamtVault, places: Places, at: datetime, how: Sitting) -> Desk:
    state = vault.live.state_folder(places)
    files = DiskVault(vault.root, state)
    return _with(Desk(vault=vault, files=files, book=RecordBook(state), now=at), how)


def _with(desk: Desk, how: Sitting) -> Desk:
    """The desk, its every write asking for leave."""
    return replace(desk, quiet_s=how.quiet_s, files=AskingVault(desk.files, how.leave))


def _ended(desk: Desk, night: date) -> Consolidation | None:
    """The whole consolidation of that night, where it has come to its end already."""
    past = [run for run in desk.book.consolidations() if run.night == night and run.parts == ALL_PARTS]
    return next((run for run in reversed(past) if run.is_over), None)


def _told_again(root: Path, how: Sitting, done: Consolidation) -> Sat:
    """The night is done; its morning is told where a crash came before that."""
    morning = None
    if not done.is_told:
        with open_desk(root) as fresh:
            morning = tell_morning(_with(fresh, how), done)
    said = done.stop_reason or "the work of that night is done already"
    return Sat(result=ConsolidationResult(run=done, reason=said), morning=morning)


def _consolidate(
    desk: Desk, places: Places, request: ConsolidationRequest, how: Sitting, zone: str
) -> tuple[ConsolidationResult, tuple[str, ...]]:
    with (
        progress_bar("Reading passages") as reading,
        progress_bar("Reading for meaning (only once a passage)") as embedding,
        progress_bar("Reading claims") as claims,
        progress_bar("Judging") as judging,
        open_night_parts(
            desk, places, leave=how.leave, reading=reading, embedding=embedding, claims=claims
        ) as parts,
    ):
        result = consolidate_once(
            desk,
            parts,
            request,
            now=lambda: local_now(datetime.now().astimezone(), zone),
            leave=how.leave,
            progress=judging or (lambda _done, _total: None),
        )
        return result, tuple(parts.missing)


def _let_pass(root: Path, how: Sitting) -> tuple[str, ...]:
    """Applies what a person has let pass without a tick, by the same way as a tick; ids of what was applied."""
    done = Settlement()
    for _ in range(MOST_LOOKS):
        with open_desk(root) as desk:
            if not read_graduated(desk.book.folder):
                return ()
            looked = settle(_with(desk, how))
        add_settlement(done, looked)
        if not looked.again:
            break
    return tuple(done.applied)


def _object(found: Sat, how: Sitting) -> dict[str, object]:
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
        "atoms_scanned": 0 if scan is None else scan.atoms,
        "atoms_new": 0 if scan is None else scan.new,
        "candidate_pairs": 0 if scan is None else scan.pairs,
        "pairs_judged": 0 if run is None else run.pairs_judged,
        "contradictions_scanned": 0 if scan is None else scan.conflicts,
        "proposals": [_proposal(made) for made in result.made],
        "resolutions_proposed": 0 if run is None else run.resolutions,
        "escalated": 0 if run is None else run.escalated,
        "left": 0 if run is None else run.left,
        "look_alike": [list(pair) for pair in result.look_alike],
        "open_contradictions": [
            {"first": one.first.title, "second": one.second.title, "subject": one.subject,
             "first_claim": one.first_claim, "second_claim": one.second_claim}
            for one in result.open_conflicts
        ],
        "applied": list(found.applied),
        "tokens": 0 if run is None else run.tokens,
        "seconds": 0 if run is None else round(run.seconds, 1),
        "report": None if found.morning is None else found.morning.report or None,
        "said": [*found.missing, *(() if found.morning is None else found.morning.said)],
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


def _say(found: Sat, how: Sitting) -> None:
    result, run = found.result, found.result.run
    for sentence in (*found.missing, *(() if found.morning is None else found.morning.said)):
        click.echo(f"{sentence[:1].upper()}{sentence[1:]}.".replace("..", "."), err=True)
    if run is None or run.scan is None:
        click.echo(f"Nothing was begun: {result.reason}.")
        return
    scan = run.scan
    new = f", {scan.new:,} of them for the first time" if scan.new else ""
    click.echo(f"Read {counted(scan.atoms, 'passage')}{new} ({run.judge}).")
    near = counted(scan.pairs, "pair lies near each other", "pairs lie near each other")
    claims = counted(scan.conflicts, "pair of claims may disagree", "pairs of claims may disagree")
    click.echo(f"{near}; {claims}.")
    _say_made(result.made, how)
    if result.open_conflicts:
        click.echo(f"{counted(len(result.open_conflicts), 'contradiction')} left to you:")
        for one in result.open_conflicts[:10]:
            click.echo(f"  {one.first.title}: {' '.join(one.first_claim.split())}")
            click.echo(f"    ↔ {one.second.title}: {' '.join(one.second_claim.split())}")
        if len(result.open_conflicts) > 10:
            click.echo(f"  … and {len(result.open_conflicts) - 10} more (--json lists them)")
    if result.look_alike:
        click.echo(f"{counted(len(result.look_alike), 'pair')} that a judge could not decide, nearest first:")
        _say_pairs(result.look_alike)
    if found.applied:
        click.echo(f"Applied without a tick, as you allowed: {', '.join(found.applied)}.")
    if result.reason and not result.interrupted:
        rest = f" {counted(run.left, 'question waits', 'questions wait')} for the next night." if run.left else ""
        click.echo(f"It ended early: {result.reason}.{rest}")
    spent = f" and {run.tokens:,} tokens" if run.tokens else ""
    click.echo(f"It took {run.seconds:,.0f} s{spent}.")
    if found.morning is not None and found.morning.report:
        click.echo(f"Figures: {found.morning.report}.")


def _say_made(made: Sequence[Made], how: Sitting) -> None:
    if not made:
        click.echo("Nothing new is proposed.")
        return
    click.echo(f"{counted(len(made), 'proposal')}:")
    for proposal, _ in made:
        click.echo(f"  {proposal.kind.replace('_', ' ')}: {' ↔ '.join(proposal.titles)} ({proposal.id})")
        click.echo(f"    {proposal.reason} ({proposal.judge}, {proposal.confidence:.2f})")
    if how.dry_run:
        click.echo("A rehearsal: nothing was written.")
    else:
        click.echo("They wait in the review note; see one with: aria-dream review VAULT ID")


def _say_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    for one, other in pairs[:10]:
        click.echo(f"  {one} ↔ {other}")
    if len(pairs) > 10:
        click.echo(f"  … and {len(pairs) - 10} more (--json lists them)")
