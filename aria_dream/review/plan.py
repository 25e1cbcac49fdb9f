"""A change as everybody needs it: files to write and move, exact edits for diff and journal, what to look at."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aria_dream.markdown.note import NotePath
from aria_dream.review.difference import line_edits
from aria_dream.review.proposal import PlannedEdit
from aria_dream.vault.edit import (
    ABSENT,
    ChangeSet,
    ContentHash,
    Edit,
    Move,
    Refusal,
    WritePlan,
    content_hash,
    decode_note,
    plan_edit,
)
from aria_dream.vault.obsidian import AppSettings
from aria_dream.vault.resolve import Resolver

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aria_dream.errors import Problem
    from aria_dream.ranking.names import NameStore
    from aria_dream.review.placement import PlacementPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultView:
    """What a planner is told of the vault; it reads nothing by itself."""

    files: tuple[str, ...]
    """Vault paths of all files, attachments too."""
    contents: Mapping[NotePath, bytes]
    """Content of every note and canvas that the plan may touch: `inbound.notes_to_read` says which a merge needs."""
    app: AppSettings = field(default_factory=AppSettings)
    placement: PlacementPolicy = "mention-then-related"
    related_heading: str = "Related"
    protected: frozenset[str] = frozenset()
    """Notes that no proposal writes: policy, triggers, everything of ours."""
    names: NameStore | None = None
    """The names of all notes, where they are known: a link goes into no part of a longer one."""
    trashed: frozenset[str] = frozenset()
    """Vault paths of what lies in `.trash`."""
    unfollowed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Vault path of a note to the places that name it and cannot follow when it goes, a clause each."""

    def resolver(self) -> Resolver:
        """Answers what links mean among these files."""
        return Resolver(self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A change that may be shown, approved and applied."""

    changes: ChangeSet
    edits: tuple[PlannedEdit, ...]
    """The same, exactly: `changes_of(edits, contents)` gives `changes` back."""
    problems: tuple[Problem, ...] = ()
    """What it leaves for the writer to look at: links that no text could express, properties that disagreed."""


def planned(
    changes: ChangeSet,
    contents: Mapping[NotePath, bytes],
    *,
    problems: Iterable[Problem] = (),
    edits: Mapping[NotePath, Sequence[Edit]] | None = None,
) -> Planned:
    """`changes` with their exact edits. `contents` holds what each changed file reads now; `edits` are those of the
    notes of which the planner knows them."""
    rows: list[PlannedEdit] = []
    for plan in changes.writes:
        before = contents.get(plan.path) if plan.expected_hash != ABSENT else None
        rows += _rows(plan, before, (edits or {}).get(plan.path))
    for move in changes.moves:
        text = decode_note(contents[move.source])
        rows.append(_row(move.source, move.expected_hash, ABSENT, Edit(0, len(text), ""), text))
        rows.append(_row(move.destination, ABSENT, move.expected_hash, Edit(0, 0, text), ""))
    return Planned(changes=changes, edits=tuple(rows), problems=tuple(problems))


def _rows(plan: WritePlan, before: bytes | None, edits: Sequence[Edit] | None) -> list[PlannedEdit]:
    old = decode_note(before or b"")
    after = ABSENT if plan.content is None else content_hash(plan.content)
    if before is None or plan.content is None:
        edits = (Edit(0, len(old), decode_note(plan.content or b"")),)
    elif edits is None:
        # one that is kept as it is has a row all the same: the change holds only as long as it reads so
        edits = line_edits(old, decode_note(plan.content)) or (Edit(0, 0, ""),)
    return [_row(plan.path, plan.expected_hash, after, edit, old) for edit in edits]


def _row(path: NotePath, before: ContentHash, after: ContentHash, edit: Edit, old: str) -> PlannedEdit:
    return PlannedEdit(
        path=str(path),
        before=before,
        after=after,
        start=edit.start,
        removed=old[edit.start : edit.end],
        inserted=edit.new,
    )


def whole_lines(edit: PlannedEdit, contents: Mapping[NotePath, bytes]) -> PlannedEdit:
    """The same change with the whole lines that it touches, as a diff shows it; made files stay as they are."""
    content = contents.get(NotePath(edit.path))
    if content is None or ABSENT in (edit.before, edit.after):
        return edit
    text, end = decode_note(content), edit.start + len(edit.removed)
    first = max(text.rfind("\n", 0, edit.start), text.rfind("\r", 0, edit.start)) + 1
    breaks = [at for at in (text.find("\n", end), text.find("\r", end)) if at >= 0]
    last = min(breaks, default=len(text))
    return replace(
        edit,
        start=first,
        removed=text[first:last],
        inserted=text[first : edit.start] + edit.inserted + text[end:last],
    )


def changes_of(edits: Sequence[PlannedEdit], contents: Mapping[NotePath, bytes]) -> ChangeSet | Refusal:
    """The changes that `edits` describe, where every file still reads as they expect and comes out as they say.

    A note removed in one place and created with the same content in another is a move.
    """
    by_path: dict[str, list[PlannedEdit]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(edit)
    writes: list[WritePlan] = []
    for path, rows in by_path.items():
        made = _write_of(NotePath(path), rows, contents.get(NotePath(path)))
        if isinstance(made, Refusal):
            return made
        writes.append(made)
    removed: dict[ContentHash, list[WritePlan]] = {}
    for plan in writes:
        if plan.content is None:
            removed.setdefault(plan.expected_hash, []).append(plan)
    moves = []
    for plan in tuple(writes):
        if plan.expected_hash != ABSENT or plan.content is None:
            continue
        alike = removed.get(content_hash(plan.content))
        if alike:
            gone = alike.pop(0)
            writes = [other for other in writes if other not in (plan, gone)]
            moves.append(Move(source=gone.path, destination=plan.path, expected_hash=gone.expected_hash))
    return ChangeSet(writes=tuple(writes), moves=tuple(moves))


def _write_of(path: NotePath, rows: Sequence[PlannedEdit], now: bytes | None) -> WritePlan | Refusal:
    hashes = {(row.before, row.after) for row in rows}
    if len(hashes) != 1:
        return Refusal(f"the planned changes of {path} contradict each other")
    before, after = next(iter(hashes))
    if (ABSENT if now is None else content_hash(now)) != before:
        return Refusal(f"{path} has changed since this was proposed")
    text = decode_note(now or b"")
    if any(row.start < 0 or text[row.start : row.start + len(row.removed)] != row.removed for row in rows):
        return Refusal(f"{path} does not read as this was proposed")
    made = plan_edit(path, now or b"", [Edit(row.start, row.start + len(row.removed), row.inserted) for row in rows])
    if isinstance(made, Refusal):
        return made
    plan = WritePlan(path=path, expected_hash=before, content=None if after == ABSENT else made.content)
    adds_up = not made.content if after == ABSENT else content_hash(made.content or b"") == after
    if not adds_up:
        return Refusal(f"the planned changes of {path} do not add up")
    return plan
