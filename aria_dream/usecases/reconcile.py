"""The journals held against the vault before anybody decides or dreams: renames, other machines, lapses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aria_dream.markdown.note import NotePath, decode_note
from aria_dream.notes.review_note import is_emptied
from aria_dream.policy.file_layout import log_notes
from aria_dream.review.following import follow
from aria_dream.review.lines import reopened_items
from aria_dream.review.proposal import Renamed, due_to_expire, event_record, plan_renames, renamed_record
from aria_dream.review.reconcile import LogNote, missing_records
from aria_dream.review.rollback import known_files
from aria_dream.world import Absent, Content

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.adapters.state.record_store import Records, RecordStore
    from aria_dream.notes.review_note import ReviewItem
    from aria_dream.review.proposal import ProposalState
    from aria_dream.world import VaultFiles


def reconcile(
    vault: DreamtVault, files: VaultFiles, store: RecordStore, now: datetime, *, rehearsal: bool = False
) -> Records:
    """The journals, with what dream notes and renamed notes say beyond them, and what has lapsed by `now`; taken over
    for good unless it is a rehearsal.

    `now`: aware, in the writer's zone.
    """
    records = store.read() if rehearsal else _followed(vault, files, store, now)
    notes = [
        LogNote(path=path, day=day, text=decode_note(content.data))
        for path, day in log_notes(vault.names)
        if isinstance(content := files.read(NotePath(path)), Content)
    ]
    missing = missing_records(
        notes,
        records.states,
        resolve=vault.index.resolver.resolve,
        hash_of=lambda path: hash_of_note(vault, path),
        now=now,
        expiry_days=vault.live.policy.settings.proposal_expiry_days,
    )
    if rehearsal:
        return records
    for record in missing:
        store.note(record)
    records = store.read() if missing else records
    due = due_to_expire(records.states.values(), now)
    for state in due:
        store.note(event_record("expired", state.proposal.id, now))
    return store.read() if due else records


def _followed(vault: DreamtVault, files: VaultFiles, store: RecordStore, now: datetime) -> Records:
    """The journals, every proposal under the names that its notes bear now."""
    records = store.read()
    named = {path for state in records.states.values() for path in state.paths}
    if not named:
        return records
    earlier = store.note_hashes()
    now_known = {fact.path: fact.content_hash.hex() for fact in vault.facts if fact.path in named}
    gone = named.difference(vault.index.files)  # renamed; or merged away, or not placed yet
    renames: tuple[Renamed, ...] = ()
    if gone:
        hashes = {fact.path: fact.content_hash.hex() for fact in vault.index.facts}
        renames = plan_renames(records.states.values(), hashes, now, earlier=earlier)
        merged = {path for one in records.states.values() if one.proposal.kind == "merge" for path in one.paths[1:]}
        renames += renames_by_history(files, gone - merged - {one.from_ for one in renames}, vault.index.files, now)
        for renamed in renames:
            store.note(renamed_record(renamed))
    if now_known.items() - earlier.items():
        store.remember_hashes({**{path: earlier[path] for path in gone if path in earlier}, **now_known})
    return store.read() if renames else records


def hash_of_note(vault: DreamtVault, path: str) -> str:
    """Hash of the note's content, in hex; `""` where no such note may be dreamt."""
    row = vault.row(path)
    return "" if row is None else vault.facts[row].content_hash.hex()


def renames_by_history(
    files: VaultFiles, gone: Collection[str], names_now: Iterable[str], now: datetime
) -> tuple[Renamed, ...]:
    """New names of notes that are `gone` and that a change of ours wrote or linked to: they are known by what they say
    but for the targets of their links, which a rename carries along."""
    if not gone:
        return ()
    there = frozenset(names_now)

    def read(paths: Iterable[str]) -> dict[str, str]:
        found = {path: files.read(NotePath(path)) for path in paths}
        return {path: decode_note(one.data) for path, one in found.items() if isinstance(one, Content)}

    renames: dict[str, Renamed] = {}
    for change in reversed(files.past_changes()):
        known = known_files(change.files, change.names, there)
        known = {path: said for path, said in known.items() if path in gone and path not in renames}
        for path, goal in follow(known, change.names, there, read).items() if known else ():
            renames[path] = Renamed(from_=path, to=goal, content_hash="", at=now)
    return tuple(renames.values())


def is_lost(vault: DreamtVault, files: VaultFiles) -> bool:
    """Whether the review note is gone or empty, though the folder is ours."""
    found = files.read(NotePath(vault.home.review))
    return vault.home.exists and (isinstance(found, Absent) or (isinstance(found, Content) and is_emptied(found.data)))


def waiting_items(vault: DreamtVault, files: VaultFiles, states: Mapping[str, ProposalState]) -> tuple[ReviewItem, ...]:
    """The pairs that wait, of every dream note, where the review note is lost; else none."""
    if not is_lost(vault, files):
        return ()
    return tuple(
        item
        for path, day in log_notes(vault.names)
        if isinstance(content := files.read(NotePath(path)), Content)
        for item in reopened_items(decode_note(content.data), day, states, all_open=True)
    )
