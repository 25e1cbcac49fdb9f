"""One consolidation run, as command and daemon start it: lock, read, judge, write the overnight report."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from aria_dream.adapters.child.permit import AskingVault
from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.lock import consolidation_lock
from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.adapters.machine.presence import read_zone
from aria_dream.adapters.state.graduation import read_graduated
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.consolidate.open_conflicts import open_conflict
from aria_dream.consolidate.record import ALL_PARTS, Part
from aria_dream.policy.settings import local_now
from aria_dream.schedule.scheduler_state import latest_night
from aria_dream.usecases.consolidation import consolidate_once
from aria_dream.usecases.consolidation_parts import open_night_parts
from aria_dream.usecases.night_parts import ConsolidationRequest, ConsolidationResult
from aria_dream.usecases.overnight_report import write_overnight_report
from aria_dream.usecases.review_run import open_session, settle_all
from aria_dream.usecases.review_session import ReviewSession, Settlement
from aria_dream.usecases.unresolved_items import find_sync_copies
from aria_dream.world import permit_all, show_nothing, unheard

if TYPE_CHECKING:
    from collections.abc import Callable

    from aria_dream.adapters.disk.places import Places
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.consolidate.record import Consolidation
    from aria_dream.consolidate.stale import Stale
    from aria_dream.usecases.consolidation_parts import VaultNight
    from aria_dream.usecases.overnight_report import OvernightReport
    from aria_dream.usecases.unresolved_items import SyncCopy
    from aria_dream.world import Progress, ShowProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationRun:
    """How a consolidation run is to go."""

    parts: tuple[Part, ...] = ALL_PARTS
    resume: Literal["never", "night", "last"] = "never"
    night: date | None = None
    """None: the night that this moment belongs to."""
    dry_run: bool = False
    quiet_s: float = 0.0
    permit: Callable[[str], None] = permit_all
    """Asked before each unit of work."""
    show: ShowProgress = show_nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class NightResult:
    """What came of it."""

    result: ConsolidationResult
    report: OvernightReport | None = None
    """None where nothing was begun, or it is only a rehearsal, or it was cut off."""
    applied: tuple[str, ...] = ()
    """Ids of what was applied without a tick."""
    copies: tuple[SyncCopy, ...] = ()
    """The copies that a sync left in the vault."""
    waits: tuple[str, ...] = ()
    """What would have passed without a tick and does not, and why, a sentence without its full stop each."""
    missing: tuple[str, ...] = field(default=())
    """What the night had to do without."""
    reminders: tuple[Stale, ...] = ()
    """Notes that are to be looked at again."""


def run_consolidation(vault: Path, how: ConsolidationRun) -> NightResult:
    """One consolidation run over a vault, and the overnight report that it leaves.

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
        with how.show("Reading notes") as progress:
            seen = read_dreamt_vault(root, places, progress=_asking(how, progress))
        zone = seen.live.policy.settings.timezone
        at = local_now(datetime.now().astimezone(), zone)
        session = _session(seen, places, at, how)
        night = how.night or latest_night(at, seen.live.policy.settings.quiet_hours, read_zone(zone)[0]).date
        if how.resume == "night" and (done := _ended(session, night)) is not None:
            return _told_again(root, how, done)
        request = ConsolidationRequest(at=at, night=night, parts=how.parts, resume=how.resume, dry_run=how.dry_run)
        result, parts = _consolidate(session, places, request, how, zone)
        missing = (*parts.missing, *parts.left_out)
        asked = parts.reminders if Part.RESOLVE in how.parts else ()
        if result.run is None or how.dry_run or result.interrupted:
            return NightResult(result=result, copies=find_sync_copies(session), missing=missing, reminders=asked)
        passed = Settlement()
        if read_graduated(session.store.folder):  # what a person has let pass without a tick goes the way of a tick
            settle_all(root, passed, show=how.show, adapted=lambda one: _with(one, how))
        with open_session(root, show=how.show) as fresh:
            report = write_overnight_report(
                _with(fresh, how),
                result.run,
                pairs=result.open_pairs,
                left_out=parts.left_out,
                reminders=asked if Part.RESOLVE in how.parts else None,
                conflicts=tuple(map(open_conflict, result.open_conflicts)) if Part.RESOLVE in how.parts else None,
            )
        return NightResult(
            result=result, report=report, applied=tuple(passed.applied), waits=tuple(passed.held),
            copies=find_sync_copies(session), missing=missing, reminders=asked,
        )  # fmt: skip


def _asking(how: ConsolidationRun, progress: Progress | None) -> Progress:
    """Asks for the permit at each step, and shows it where somebody looks."""

    def step(done: int, total: int) -> None:
        how.permit("reading")
        if progress is not None:
            progress(done, total)

    return step


def _session(vault: DreamtVault, places: Places, at: datetime, how: ConsolidationRun) -> ReviewSession:
    state = vault.live.state_folder(places)
    files = DiskVault(vault.root, state)
    return _with(ReviewSession(vault=vault, files=files, store=RecordStore(state), now=at), how)


def _with(session: ReviewSession, how: ConsolidationRun) -> ReviewSession:
    """The review session, its every write asking for the permit."""
    return replace(session, quiet_s=how.quiet_s, files=AskingVault(session.files, how.permit))


def _ended(session: ReviewSession, night: date) -> Consolidation | None:
    """The whole consolidation of that night, where it has come to its end already."""
    past = [run for run in session.store.consolidations() if run.night == night and run.parts == ALL_PARTS]
    return next((run for run in reversed(past) if run.is_over), None)


def _told_again(root: Path, how: ConsolidationRun, done: Consolidation) -> NightResult:
    """The night is done; its report is written where a crash came before that."""
    report = None
    if not done.is_told:
        with open_session(root, show=how.show) as fresh:
            report = write_overnight_report(_with(fresh, how), done)
    said = done.stop_reason or "the work of that night is done already"
    return NightResult(result=ConsolidationResult(run=done, reason=said), report=report)


def _consolidate(
    session: ReviewSession, places: Places, request: ConsolidationRequest, how: ConsolidationRun, zone: str
) -> tuple[ConsolidationResult, VaultNight]:
    with (
        how.show("Reading passages") as reading,
        how.show("Reading for meaning (only once a passage)") as embedding,
        how.show("Reading claims") as claims,
        how.show("Judging") as judging,
        open_night_parts(
            session, places, permit=how.permit, reading=reading, embedding=embedding, claims=claims
        ) as parts,
    ):
        result = consolidate_once(
            session,
            parts,
            request,
            now=lambda: local_now(datetime.now().astimezone(), zone),
            permit=how.permit,
            progress=judging or unheard,
        )
        return result, parts
