"""The links of all other notes, when one comes, goes or gets another name: each means afterwards what it meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aria_dream.errors import Problem
from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.review.plan import Planned, planned
from aria_dream.review.rewriting import Meaning, apply_edits, retarget_canvas, retarget_note
from aria_dream.review.safety import TRASH, protected_refusal, safety_refusal
from aria_dream.vault.edit import (
    ABSENT,
    ChangeSet,
    Exists,
    Move,
    Refusal,
    WritePlan,
    content_hash,
    decode_note,
    encode_note,
    note_refusal,
    plan_create,
    plan_edit,
)
from aria_dream.vault.resolve import Resolver

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aria_dream.review.plan import VaultView
    from aria_dream.review.proposal import PlannedEdit
    from aria_dream.vault.linkage import Linkage


def notes_to_read(linkage: Linkage, paths: Iterable[str]) -> tuple[str, ...]:
    """The notes and canvases with a link that may mean another file once `paths` have come or gone, sorted.

    Those, and `paths` themselves, are what `VaultView.contents` must hold.
    """
    found = {linkage.path_of(number) for path in paths for number in linkage.sources_naming(path)}
    return tuple(sorted(found))


def retarget_others(
    view: VaultView, meaning: Meaning, *, skip: Iterable[str] = ()
) -> tuple[list[WritePlan], list[Problem]]:
    """`(plans, problems)` for every note and canvas in `view.contents` with a link that would mean the wrong file.

    Notes of ours stay as they are: what they say was so that night. A plugin's note is left, and told.
    """
    plans: list[WritePlan] = []
    problems: list[Problem] = []
    passed = frozenset(skip)
    for path, content in sorted(view.contents.items()):
        said = str(path)
        if said in passed or said not in view.files or protected_refusal(path, view.contents, view.protected):
            continue
        retarget = retarget_canvas if path.suffix.lower() == ".canvas" else retarget_note
        edits, left = retarget(decode_note(content), said, meaning)
        problems += left
        if not edits:
            continue
        reason = note_refusal(path, content) if path.suffix.lower() != ".canvas" else None
        if reason:
            problems.append(Problem(said, 0, f"{reason}, so its links to a note that is gone are for you to mend"))
            continue
        plan = plan_edit(path, content, edits)
        assert isinstance(plan, WritePlan)  # spans of one reading do not overlap
        plans.append(plan)
    return plans, problems


def plan_move(view: VaultView, path: NotePath, destination: NotePath) -> Planned | Refusal:
    """The change that gives a note another name or folder; links to it, its own, and those of look-alikes follow."""
    content = view.contents.get(path)
    if content is None:
        return Refusal(f"{path} is not in the vault (any more)")
    after = Resolver([*(file for file in view.files if file != str(path)), str(destination)])
    meaning = Meaning(before=view.resolver(), after=after, moved={str(path): str(destination)})
    edits, own = retarget_note(decode_note(content), str(path), meaning, source_after=str(destination))
    moved = encode_note(apply_edits(decode_note(content), edits))
    writes, others = retarget_others(view, meaning, skip=(str(path),))
    if moved != content:
        reason = note_refusal(path, content)
        if reason:
            return Refusal(reason)
        writes.insert(0, WritePlan(path=path, expected_hash=content_hash(content), content=moved))
    move = Move(source=path, destination=destination, expected_hash=content_hash(moved))
    changes = ChangeSet(writes=tuple(writes), moves=(move,))
    return safety_refusal(changes, view) or planned(changes, view.contents, problems=(*own, *others))


def left_behind(view: VaultView, edits: Sequence[PlannedEdit], moved: Mapping[str, str]) -> str:
    """Vault path of a note whose links would mean another file once `edits` are made, and of which they say nothing: it
    came, or was linked, since they were planned. `""` where there is none.

    `moved`: what goes to what takes its place.
    """
    gone = {edit.path for edit in edits if edit.after == ABSENT}
    come = {edit.path for edit in edits if edit.before == ABSENT and not edit.path.startswith(f"{TRASH}/")}
    if not gone and not come:
        return ""
    after = Resolver([*(path for path in view.files if path not in gone), *sorted(come)])
    meaning = Meaning(before=view.resolver(), after=after, moved=moved)
    plans, _ = retarget_others(view, meaning, skip={edit.path for edit in edits})
    return str(plans[0].path) if plans else ""


def plan_orphan(view: VaultView, path: NotePath, text: str) -> Planned | Refusal:
    """The change that creates a note which links to nothing. No link that leads somewhere comes to lead to it; those
    that led nowhere and would lead to it now are told."""
    found = next((link for link in parse_note(text).links if link.path), None)
    if found is not None:
        return Refusal(f"a note that stands alone cannot link to {found.path!r}")
    plan = plan_create(path, text, map(NotePath, view.files))
    match plan:
        case Exists():
            return Refusal(f"{plan.path} is there already")
        case Refusal():
            return plan
        case WritePlan():
            meaning = Meaning(before=view.resolver(), after=Resolver([*view.files, str(path)]), moved={})
            others, problems = retarget_others(view, meaning)
            problems += _captured(view, meaning, str(path))
            changes = ChangeSet(writes=(plan, *others))
            return safety_refusal(changes, view) or planned(changes, view.contents, problems=problems)


def _captured(view: VaultView, meaning: Meaning, created: str) -> list[Problem]:
    problems = []
    for path, content in sorted(view.contents.items()):
        if path.suffix.lower() != ".md":
            continue
        source = str(path)
        for link in parse_note(decode_note(content)).links:
            led_nowhere = meaning.before.resolve(link.path, source) is None
            if led_nowhere and meaning.after.resolve(link.path, source) == created:
                problems.append(Problem(source, 0, f"{link.raw} led nowhere and would lead to the new note"))
                break
    return problems
