"""What has come back, brought home: the block in the dream note, the seed's status, and what is proposed for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from aria_dream.adapters.disk.writing import bytes_or_refuse
from aria_dream.errors import WriteRefusedError
from aria_dream.markdown.note import NotePath, decode_note
from aria_dream.policy.file_layout import choose_log, log_notes
from aria_dream.reach.reach import Answer
from aria_dream.reach.reach_block import ReachedPair
from aria_dream.reach.reach_landing import late_origin, paths_to_read, plan_landing, said_already, stands_in
from aria_dream.review.orphan_name import orphan_folder
from aria_dream.review.proposal import planned_record
from aria_dream.review.reach_proposals import (
    AskedPair,
    AskedSeed,
    Noted,
    NothingProposed,
    Proposed,
    Reached,
    proposals_of_reach,
)
from aria_dream.review.rivals import withheld
from aria_dream.usecases.reconcile import hash_of_note
from aria_dream.usecases.review import renew_lines
from aria_dream.usecases.review_session import ReviewSession, Settlement
from aria_dream.vault.edit import Exists, Refusal
from aria_dream.world import Conflict, Content, Failed, Refused, Written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import date, time

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.adapters.state.record_store import RecordStore
    from aria_dream.notes.dream_note_grammar import LoggedLink
    from aria_dream.reach.reach_record import ReachRecord
    from aria_dream.world import VaultFiles

WRITE_ATTEMPTS = 4
_UNREAD = "it cannot be read now"


@dataclass(frozen=True, slots=True)
class Landed:
    """The block stands in a dream note."""

    note: str
    """Vault path."""


@dataclass(frozen=True, slots=True)
class Waits:
    """No dream note takes the block now. Nothing was written; the journal keeps it."""

    reason: str
    """One clause that names the note."""


def land(
    reach: ReachRecord,
    files: VaultFiles,
    look: Callable[[], DreamtVault],
    *,
    today: date,
    host: str = "",
    quiet_s: float = 0.0,
) -> Landed | Waits:
    """Where the block stands when this returns, or why it waits. Safe to repeat: it is never written twice.

    `today`: the writer's. The note of the reach's own day comes first; a later one gets the block with that day in it.

    Raises:
        BusyError: another of our processes writes and does not end.
    """
    files.recover()
    reason = ""
    for day in _days(reach, files, look(), today):
        late = day != reach.at.date()
        origin = late_origin(reach.block.origin, reach.at.date())
        told = replace(reach, block=replace(reach.block, origin=origin)) if late else reach
        try:
            return Landed(_write(told, day, files, look, host=host, quiet_s=quiet_s))
        except WriteRefusedError as error:
            reason = reason or str(error)
    return Waits(reason)


def _days(reach: ReachRecord, files: VaultFiles, vault: DreamtVault, today: date) -> Iterator[date]:
    """The days whose notes are tried: that which holds the block already, else the reach's own and then today's."""
    own = reach.at.date()
    for path, day in log_notes(vault.names):
        content = files.read(NotePath(path)) if own <= day <= max(own, today) else None
        if isinstance(content, Content) and stands_in(decode_note(content.data), reach.block):
            yield day
            return
    yield own
    if today > own:
        yield today


def _write(
    reach: ReachRecord,
    day: date,
    files: VaultFiles,
    look: Callable[[], DreamtVault],
    *,
    host: str,
    quiet_s: float,
) -> str:
    """Vault path of the day's dream note, in which the block stands when this returns.

    Raises:
        WriteRefusedError: the note takes no block now; the clause says why.
    """
    for attempt in range(WRITE_ATTEMPTS):
        vault = look()
        note = choose_log(vault.names, vault.home, day)
        before = {path: bytes_or_refuse(files, path, otherwise=_UNREAD) for path in paths_to_read(note, vault.home)}
        changes = plan_landing(reach, day, note, vault.home, before, host=host)
        if isinstance(changes, Refusal):
            raise WriteRefusedError(f"{note}: {changes.reason.removeprefix(f'{note} ')}")
        if not changes.writes:
            return note
        outcome = files.write(changes, label="reach", quiet_s=quiet_s)
        match outcome:
            case Written():
                return note
            case Conflict() | Exists() if attempt + 1 < WRITE_ATTEMPTS and not quiet_s:
                continue
            case Conflict() | Refused() | Failed():
                raise WriteRefusedError(f"{outcome.path}: {outcome.reason}")
            case Exists():
                raise WriteRefusedError(f"“{outcome.path}” has appeared meanwhile")
            case _:
                assert_never(outcome)
    raise AssertionError("the last attempt returns or raises")


def said_before(reach: ReachRecord, files: VaultFiles, vault: DreamtVault) -> time | None:
    """When the day's dream note said the very same last: that nothing was sent, for the same reason. None: never."""
    content = files.read(NotePath(choose_log(vault.names, vault.home, reach.at.date())))
    return said_already(decode_note(content.data), reach.block) if isinstance(content, Content) else None


def propose_reached(
    reach: ReachRecord, note: str, vault: DreamtVault, files: VaultFiles, store: RecordStore, *, model: str
) -> tuple[str, ...]:
    """Journals what the reach's answer leads to and shows it in the review note; sentences for the writer.

    `note`: vault path of the dream note that shows the reach, which `vault` knows already. Nothing happens for what is
    no answer.

    Raises:
        WriteRefusedError: the journal cannot be written.
        StateDamagedError: the journal cannot be read.
    """
    answer = reach.block.outcome
    if not isinstance(answer, Answer) or answer.verdict == "neither":
        return ()
    session = ReviewSession(vault=vault, files=files, store=store, now=reach.at)
    asked = _asked(vault, reach, note)
    if asked is None:
        return ("Nothing is proposed for it: a note of the pair is gone.",)
    settings = vault.live.policy.settings
    found = proposals_of_reach(
        Reached(id=reach.id, at=reach.at, asked=asked, answer=answer, model=model, note=note),
        store.read().states,
        session.view((asked.from_, asked.to) if isinstance(asked, AskedPair) else (), inbound=True),
        vault.names,
        folder=orphan_folder(vault.index.app, vault.home),
        expiry_days=settings.proposal_expiry_days,
        hash_of=lambda path: hash_of_note(vault, path),
    )
    if isinstance(found, Proposed) and (refusal := withheld(found.proposal, store.read().states.values())):
        found = NothingProposed(refusal.reason)
    match found:
        case Proposed(proposal=proposal, edits=edits):
            store.propose([proposal])
            if edits:
                store.note(planned_record(proposal.id, edits, reach.at))
            said = f"It waits for you as a proposal: aria-dream review VAULT {proposal.id}"
        case Noted(id=id_, records=records):
            for record in records:
                store.note(record)
            said = f"The proposal that waits for you knows it now: aria-dream review VAULT {id_}"
        case NothingProposed(reason):
            return (f"Nothing is proposed for it: {reason}.",)
        case _:
            assert_never(found)
    done = Settlement()
    renew_lines(session, done)
    return (said, *done.said)


def _asked(vault: DreamtVault, reach: ReachRecord, note: str) -> AskedPair | AskedSeed | None:
    """What the reach was on, in the direction that was asked; None where a note of the pair is gone."""
    subject = reach.block.subject
    if not isinstance(subject, ReachedPair):
        if reach.homes is None:
            return AskedSeed(subject.header, reach.block.no_link)
        if any(vault.row(path) is None for path in reach.homes):
            return None
        from_, to = reach.homes
        return AskedPair(from_=from_, to=to, way=_shortest(vault, from_, to))
    if reach.pair is None:
        return None
    if any(vault.row(path) is None for path in reach.pair):
        return None
    first, second = reach.pair
    turned = _path_of(vault, subject.from_, note) == second or _path_of(vault, subject.to, note) == first
    from_, to = (second, first) if turned else (first, second)
    return AskedPair(from_=from_, to=to, way=_way(vault, subject, from_, to))


def _path_of(vault: DreamtVault, link: LoggedLink, note: str) -> str | None:
    return vault.index.resolver.resolve(link.target, note) if link.target else None


def _way(vault: DreamtVault, subject: ReachedPair, from_: str, to: str) -> tuple[str, ...] | None:
    """The way in vault paths, as far as its titles still say which notes they are."""
    if subject.path is None:
        return None
    steps = [vault.index.resolver.resolve(title, "") for title in subject.path[1:-1]]
    return (from_, *(step for step in steps if step is not None), to)


def _shortest(vault: DreamtVault, from_: str, to: str) -> tuple[str, ...] | None:
    from aria_dream.ranking.juxtaposition import shortest_ways  # numpy

    rows = vault.row(from_), vault.row(to)
    assert rows[0] is not None
    assert rows[1] is not None
    way = shortest_ways(vault.links, rows[0], [rows[1]])[rows[1]]
    return None if way is None else tuple(vault.graph.paths[row] for row in way)
