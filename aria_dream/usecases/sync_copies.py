"""The copies that a sync left in a vault: which there are, how they differ, and a proposal for each of a note."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.markdown.note import NotePath
from aria_dream.privacy.sharing import Visibility
from aria_dream.review.safety import protected_refusal
from aria_dream.review.sync_copies import propose_sync_copy, what_differs
from aria_dream.vault.edit import Refusal, content_hash, decode_note

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from aria_dream.review.proposal import ProposalState
    from aria_dream.usecases.night_parts import Made
    from aria_dream.usecases.review_session import ReviewSession


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncCopy:
    """A file that a sync made a copy of, and the copy."""

    original: str
    """Vault path."""
    path: str
    """Vault path of the copy."""
    differs: str
    """What differs, as a clause that names no line."""
    mark: str
    """What the finding is remembered by; `""` where a person has to look at the two, as with no notes."""
    is_newer: bool
    """Whether the copy was written later than its original."""


def find_sync_copies(session: ReviewSession) -> tuple[SyncCopy, ...]:
    """The copies of what the policy lets a dream see, in the order of their paths. Those of our own notes, which the
    daemon merges, are left out."""
    index, sharing = session.vault.index, session.vault.sharing
    found, protected = [], session.view((), inbound=False).protected
    for path, original in sorted(index.copies.items()):
        if Visibility.HIDDEN in (sharing.visibility(path), sharing.visibility(original)):
            continue
        contents = session.contents((path, original)) if path.lower().endswith(".md") else {}
        if any(protected_refusal(NotePath(one), contents, protected) for one in (path, original)):
            continue
        state, other = index.scan.snapshot.files[path], index.scan.snapshot.files[original]
        mark, differs = "", "the two are not compared here; keep the one you want"
        if len(contents) == 2:
            text, copy = contents[NotePath(original)], contents[NotePath(path)]
            differs = what_differs(decode_note(text), decode_note(copy))
            mark = f"copy {path} {content_hash(copy)[:16]}"
        found.append(
            SyncCopy(
                original=original, path=path, differs=differs, mark=mark, is_newer=state.modified_ns > other.modified_ns
            )
        )
    return tuple(found)


def propose_union(
    session: ReviewSession, copy: SyncCopy, states: Mapping[str, ProposalState], expires_at: datetime | None
) -> Made | Refusal:
    """A proposal that unites the note with its copy; or why none can be made."""
    return propose_sync_copy(
        session.view((copy.original, copy.path), inbound=True),
        copy.original,
        copy.path,
        tuple(states.values()),
        copy_is_newer=copy.is_newer,
        now=session.now,
        expires_at=expires_at,
    )
