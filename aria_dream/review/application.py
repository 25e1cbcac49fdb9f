"""From an approval to the exact change of the files as they are now; or why nothing may be written."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, assert_never

from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.markdown.properties import parse_properties
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.review.changes import Replacement, plan_obsolete, plan_placement, plan_replacements
from aria_dream.review.inbound import left_behind, plan_orphan
from aria_dream.review.merging import plan_merge_all
from aria_dream.review.own_writes import NONE
from aria_dream.review.placement import AlreadyLinked, Target
from aria_dream.review.plan import Planned, changes_of
from aria_dream.review.safety import safety_refusal
from aria_dream.review.sync_copies import plan_sync_copy
from aria_dream.vault.edit import ABSENT, Refusal, content_hash, decode_note

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aria_dream.review.own_writes import OwnWrites
    from aria_dream.review.plan import VaultView
    from aria_dream.review.proposal import Kind, PlannedEdit, ProposalState
    from aria_dream.vault.edit import ChangeSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """A proposal that was approved. Only `approve` makes one."""

    id: str
    kind: Kind
    paths: tuple[str, ...]
    """Under the names that the notes bear now."""
    edits: tuple[PlannedEdit, ...]
    """Of the plan that was approved; empty where none had been made, as with a tick."""
    hash: str
    """`proposal_hash` of what was approved."""
    exact: bool
    """The person saw these very edits: nothing else may be written for them."""
    body: str | None = None
    """Of a merge: the exact text that the kept note is to have, where it was made from what all of them said;"""
    is_reworded: bool = False
    """A model worded that text, so that nothing can make it again;"""
    hashes: Mapping[str, str] = field(default_factory=dict)
    """and the content hashes of the notes that it was made from."""
    edge: str = ""
    """Of a link: what the relation is called; `""` where nobody named it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """What is to be written."""

    changes: ChangeSet
    edits: tuple[PlannedEdit, ...]
    replanned: bool
    """The notes have changed since, and the same thing still fits: `edits` are new and belong into the journal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """Nothing is written: the notes have changed since, and what was approved does not fit any more."""

    reason: str
    fresh: tuple[PlannedEdit, ...] = ()
    """What would be written now, to be shown and approved anew; empty where nothing can be."""
    link: str = ""
    """The link that the writer has set meanwhile; `""` where that is not the reason."""


def proposal_hash(state: ProposalState) -> str:
    """SHA-256 over id, kind, notes and exact edits of a proposal: what a surface shows, and an approval names."""
    return _hash(state.proposal.id, state.proposal.kind, state.paths, state.edits)


def _hash(id_: str, kind: str, paths: Sequence[str], edits: Sequence[PlannedEdit]) -> str:
    rows = [[edit.path, edit.before, edit.after, edit.start, edit.removed, edit.inserted] for edit in edits]
    return sha256(json.dumps([id_, kind, list(paths), rows]).encode()).hexdigest()


def approve(state: ProposalState, shown: str | None = None) -> Approved | Refusal:
    """The approval of a proposal. `shown` is the `proposal_hash` of what the person saw; None where the surface shows
    no exact change (a tick).

    Refused where the proposal is not approved, or has been planned anew since it was shown.
    """
    if state.state != "approved":
        return Refusal(f"proposal {state.proposal.id} is {state.state}, so nothing is applied")
    now = proposal_hash(state)
    if shown is not None and shown != now:
        return Refusal(f"proposal {state.proposal.id} is not what was shown; look at it again")
    proposal, edits = state.proposal, edits_now(state)
    names = dict(zip(proposal.paths, state.paths, strict=True))
    body = proposal.evidence.get("body")
    return Approved(
        id=proposal.id,
        kind=proposal.kind,
        paths=state.paths,
        edits=edits,
        hash=_hash(proposal.id, proposal.kind, state.paths, edits),
        exact=shown is not None and bool(edits),
        body=body if isinstance(body, str) else None,
        is_reworded=any(proposal.evidence.get(key) for key in ("lost", "added", "reworded")),
        hashes={names.get(path, path): content for path, content in proposal.hashes.items()},
        edge=state.edge,
    )


def edits_now(state: ProposalState) -> tuple[PlannedEdit, ...]:
    """Its planned edits under the names that its notes bear now."""
    names = {old: new for old, new in zip(state.proposal.paths, state.paths, strict=True) if old != new}
    return tuple(replace(edit, path=names.get(edit.path, edit.path)) for edit in state.edits)


def plan_application(
    approved: Approved,
    view: VaultView,
    *,
    replan: Callable[[Approved, VaultView], Planned | AlreadyLinked | Refusal] | None = None,
    own: OwnWrites = NONE,
) -> Ready | Stale | Refusal:
    """What to write for an approval, the notes being as `view` has them.

    The approved edits, where every file still reads as they expect. Else the change is planned again and taken if
    it is the same one in another place: the same text gives way to the same text. Where nobody saw the text of a
    link, it is enough that its mention still stands, or that it had none; where no plan had been made, any will do, and
    so where nothing but changes of ours (`own`) has come between: they were approved beside it.
    `replan` makes the new plan; `plan_again` is the usual one. Every result has passed `safety_refusal`.
    """
    if approved.hash != _hash(approved.id, approved.kind, approved.paths, approved.edits):
        return Refusal(f"proposal {approved.id} is not what was approved")
    before = planned_before(approved, view)
    if isinstance(before, Refusal | Stale):
        return before
    if isinstance(before, Planned):
        return Ready(changes=before.changes, edits=before.edits, replanned=False)
    found = (replan or plan_again)(approved, view)
    match found:
        case Refusal():
            return Stale(reason=found.reason)
        case AlreadyLinked():
            return Stale(reason=f"the note links there already: {found.link}", link=found.link)
        case Planned():
            refusal = safety_refusal(found.changes, view)
            if refusal is not None:
                return refusal
            if _fits(approved, found.edits) or _only_ours(approved, found.edits, view, own):
                return Ready(changes=found.changes, edits=found.edits, replanned=True)
            return Stale(reason=before, fresh=found.edits)
        case _:
            assert_never(found)


def planned_before(approved: Approved, view: VaultView) -> Planned | Stale | Refusal | str:
    """The approved edits as they were planned, where they still fit; Stale or a Refusal where nothing may be written in
    their place either; else why they do not fit, as a clause."""
    if not approved.edits:
        return "no plan has been made yet"
    changes = changes_of(approved.edits, view.contents)
    if isinstance(changes, Refusal):
        # One that contradicts itself: no later state of the notes will mend that.
        return changes if _is_current(approved.edits, view) else changes.reason
    if refusal := safety_refusal(changes, view):
        return refusal
    if _leads_astray(approved, view):
        return f"the link as approved would not lead to {approved.paths[1]} any more"
    refusal = safety_refusal(changes, view)
    if refusal is not None:
        return refusal
    if captured := _captures(approved, view):
        return Stale(reason=captured)
    if missed := left_behind(view, approved.edits, _moved(approved)):
        return f"{missed} has a link since that has to follow"
    return Planned(changes=changes, edits=approved.edits)


def _moved(approved: Approved) -> dict[str, str]:
    """What goes to what takes its place."""
    keep, *drops = approved.paths
    return dict.fromkeys(drops, keep) if approved.kind in ("merge", "sync_copy") else {}


def _is_current(edits: Sequence[PlannedEdit], view: VaultView) -> bool:
    return all(hash_now(view, edit.path) == edit.before for edit in edits)


def hash_now(view: VaultView, path: str) -> str:
    """Hash of what the file reads, `ABSENT` where the view has none."""
    content = view.contents.get(NotePath(path))
    return ABSENT if content is None else content_hash(content)


def _leads_astray(approved: Approved, view: VaultView) -> bool:
    """Whether a link's approved text means another file now, or none: the target was renamed, a namesake came."""
    if approved.kind != "link":
        return False
    resolver, (source, target) = view.resolver(), approved.paths
    links = [link for edit in approved.edits for link in parse_note(edit.inserted).links]
    return not any(resolver.resolve(link.path, source) == target for link in links)


def _captures(approved: Approved, view: VaultView) -> str:
    """Why a new note may not have its name any more: a link that was written since looks it up, or it would take one
    from another note. `""` where it may, and for other kinds."""
    if approved.kind != "place_orphan":
        return ""
    edit = approved.edits[0]
    found = plan_orphan(view, NotePath(edit.path), edit.inserted)
    if isinstance(found, Refusal):
        return found.reason
    if found.problems or len(found.changes.writes) > 1:
        return f"a link of yours looks up “{title_of(edit.path)}”, and it would come to mean the new note"
    return ""


def _fits(approved: Approved, fresh: Sequence[PlannedEdit]) -> bool:
    if not approved.edits:
        return True
    was, now = (
        [(edit.removed, edit.inserted) for edit in edits if _exchanges(edit)] for edits in (approved.edits, fresh)
    )
    if was == now:
        return True
    if approved.kind != "link" or approved.exact:
        return False
    # Nobody saw the text of the link: its anchor is what was approved, or that it has none.
    anchors = [edit.removed for edit in approved.edits]
    return not any(anchors) or anchors == [edit.removed for edit in fresh]


def _only_ours(approved: Approved, fresh: Sequence[PlannedEdit], view: VaultView, own: OwnWrites) -> bool:
    """Whether the notes read otherwise than when this was approved by nothing but changes of ours."""
    known = {edit.path for edit in approved.edits}
    return (
        not _is_current(approved.edits, view)
        and all(own.leads(edit.path, edit.before, hash_now(view, edit.path)) for edit in approved.edits)
        and all(edit.path in known or own.wrote(edit.path, edit.before) for edit in fresh)
    )


def plan_again(approved: Approved, view: VaultView) -> Planned | AlreadyLinked | Refusal:
    """A new plan for what was approved, made from the notes as they are. A passage that was to change must still stand
    in its note, once."""
    paths = tuple(NotePath(path) for path in approved.paths)
    match approved.kind:
        case "link":
            return plan_placement(view, paths[0], target_of(view, paths[1]), edge=approved.edge)
        case "merge":
            return _merge_again(approved, view)
        case "update" | "resolve_contradiction":
            return _replace_again(approved, view)
        case "sync_copy":  # whichever note was changed since is the newer one
            return plan_sync_copy(view, *paths, copy_is_newer=_is_changed(approved, view))
        case "obsolete":
            return _obsolete_again(approved, view)
        case "place_orphan":
            if not approved.edits:
                return Refusal("the note's text is not known any more")
            return plan_orphan(view, NotePath(approved.edits[0].path), approved.edits[0].inserted)
        case _:
            assert_never(approved.kind)


def _replace_again(approved: Approved, view: VaultView) -> Planned | Refusal:
    if not approved.edits:
        return Refusal("the text that was to change is not known any more")
    for edit in approved.edits:
        if not _exchanges(edit) and not _is_current((edit,), view):
            return Refusal(f"{edit.path} has changed since this was proposed")
    return plan_replacements(
        view,
        [
            Replacement(path=NotePath(edit.path), old=edit.removed, new=edit.inserted)
            for edit in approved.edits
            if _exchanges(edit)
        ],
    )


def _exchanges(edit: PlannedEdit) -> bool:
    """Whether the edit changes anything; one that does not says that its note must read as it did."""
    return edit.removed != edit.inserted


def _merge_again(approved: Approved, view: VaultView) -> Planned | Refusal:
    """The merge anew. A text that was made for these notes is no text for what they say since."""
    keep, *drops = map(NotePath, approved.paths)
    return merged_text_refusal(approved, view) or plan_merge_all(view, keep, drops, body=approved.body)


def merged_text_refusal(approved: Approved, view: VaultView, own: OwnWrites = NONE) -> Refusal | None:
    """Why the exact text of a merge can be used no more: a note that it was made from has changed, and not by `own`
    changes alone."""
    for path, content in approved.hashes.items() if approved.body is not None else ():
        if not own.leads(path, content, hash_now(view, path)):
            return Refusal(f"{path} has changed since the merged text was made")
    return None


def _is_changed(approved: Approved, view: VaultView) -> bool:
    """Whether of a note and its copy the copy alone has changed since the two were compared."""
    keep, copy = (
        content_hash(view.contents.get(NotePath(path), b"")) != approved.hashes.get(path, "") for path in approved.paths
    )
    return copy and not keep


def target_of(view: VaultView, path: NotePath) -> Target:
    """The facts of a link's target, its aliases where its content is at hand."""
    note = parse_note(decode_note(view.contents.get(path, b"")))
    return Target(path=str(path), title=title_of(str(path)), aliases=note.aliases)


def _obsolete_again(approved: Approved, view: VaultView) -> Planned | Refusal:
    if not approved.edits:
        return plan_obsolete(view, NotePath(approved.paths[0]))
    lines = [line for edit in approved.edits for line in edit.inserted.splitlines() if line.strip() not in ("", "---")]
    properties, _ = parse_properties("\n".join(lines) + "\n")
    if len(properties) != 1:
        return Refusal("the property that was to be set is not known any more")
    ((key, value),) = properties.items()
    return plan_obsolete(view, NotePath(approved.paths[0]), key, value)
