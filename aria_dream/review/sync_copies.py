"""A note and the copy that a sync left of it, united line by line. Pure.

Of two texts without the one both came from nobody can say which line was changed and which was added: so no line is
lost. Lines that both have stand once; a line that each has otherwise stands as the newer note has it, with the older
wording below it, unless the newer one says all of it.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from aria_dream.markdown.ending import open_ending
from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.review.inbound import retarget_others
from aria_dream.review.merging import trash_place
from aria_dream.review.plan import Planned, planned
from aria_dream.review.properties_merged import merge_properties
from aria_dream.review.proposal import Proposal, next_round, proposal_id
from aria_dream.review.rewriting import Meaning
from aria_dream.review.safety import safety_refusal
from aria_dream.vault.edit import (
    ChangeSet,
    Move,
    Refusal,
    WritePlan,
    content_hash,
    decode_note,
    encode_note,
    line_end,
    note_refusal,
    with_line_ends,
)
from aria_dream.vault.resolve import Resolver

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from aria_dream.errors import Problem
    from aria_dream.review.plan import VaultView
    from aria_dream.review.proposal import PlannedEdit, ProposalState

_MOST_COMPARED: Final = 4_000_000
"""Pairs of lines beyond which two notes are not compared: comparing is quadratic."""
_MOST_WORDINGS: Final = 2_000
"""Pairs of lines in one changed place beyond which none is taken for another wording of another."""
_BOX: Final = re.compile(r"^([\s>]*(?:[-*+]|\d{1,9}[.)])[ \t]+)\[.\]")
_SHOWN: Final = 5
"""Lines that the proposal quotes of either note."""


def plan_sync_copy(view: VaultView, keep: NotePath, copy: NotePath, *, copy_is_newer: bool) -> Planned | Refusal:
    """The change that gives `keep` every line of both and puts `copy` into the trash; or why there is none.

    Properties that only one has are taken over; where both have one, the newer note's holds and the other is told.
    Links to the copy lead to `keep`.
    """
    for path in (keep, copy):
        if path not in view.contents:
            return Refusal(f"{path} is not in the vault (any more)")
        if reason := note_refusal(path, view.contents[path]):
            return Refusal(reason)
    problems: list[Problem] = []
    united = _united(view, keep, copy, copy_is_newer=copy_is_newer, problems=problems)
    if isinstance(united, Refusal):
        return united
    before = view.contents[keep]
    writes = [WritePlan(path=keep, expected_hash=content_hash(before), content=united)]
    meaning = Meaning(
        before=view.resolver(),
        after=Resolver([path for path in view.files if path != str(copy)]),
        moved={str(copy): str(keep)},
    )
    others, left = retarget_others(view, meaning, skip=(str(keep), str(copy)))
    place = trash_place(view.trashed, copy)
    move = Move(source=copy, destination=place, expected_hash=content_hash(view.contents[copy]))
    changes = ChangeSet(writes=(*writes, *others), moves=(move,))
    return safety_refusal(changes, view) or planned(changes, view.contents, problems=(*problems, *left))


def _united(
    view: VaultView, keep: NotePath, copy: NotePath, *, copy_is_newer: bool, problems: list[Problem]
) -> bytes | Refusal:
    texts = {path: decode_note(view.contents[path]) for path in (keep, copy)}
    newer, older = (copy, keep) if copy_is_newer else (keep, copy)
    plain = {path: with_line_ends(text, "\n").removeprefix("\ufeff") for path, text in texts.items()}
    if plain[keep] == plain[copy]:
        return view.contents[keep]
    first, second = parse_note(plain[newer]), parse_note(plain[older])
    bodies = [note.text[note.body_start :].split("\n") for note in (first, second)]
    if len(bodies[0]) * len(bodies[1]) > _MOST_COMPARED:
        return Refusal(f"{keep} and its copy are too long to be compared line by line")
    made = first.text[: first.body_start] + "\n".join(unite_lines(*bodies))
    merged = merge_properties(made, second, alias=title_of(str(older)), own_name=title_of(str(older)), path=str(keep))
    if isinstance(merged, Refusal):
        return merged
    text, told = merged
    problems += told
    if (inside := open_ending(text)) and not open_ending(plain[keep]):
        return Refusal(f"the united text of {keep} would end inside {inside}")
    mark = "\ufeff" if texts[keep].startswith("\ufeff") else ""
    return encode_note(mark + with_line_ends(text, line_end(texts[keep])))


def unite_lines(newer: Sequence[str], older: Sequence[str]) -> list[str]:
    """Every line of both, in their order, the newer one's first where both have something else in one place.

    Of the older one nothing is taken that the newer one says elsewhere, or says whole in the line it has instead.
    """
    known = {line.strip() for line in newer if line.strip()}
    lines: list[str] = []
    first, second = ([line.rstrip() for line in text] for text in (newer, older))
    for what, start, end, older_start, older_end in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        here = newer[start:end]
        if what == "equal":
            lines += here
            continue
        added = [
            line for line in older[older_start:older_end]
            if (line.strip() or what == "insert")
            and (not line.strip() or line.strip() not in known)
            and not any(_holds(other, line) for other in here)
        ]
        lines += _beside(here, added if any(line.strip() for line in added) else [])
    return lines


def _beside(here: Sequence[str], added: Sequence[str]) -> list[str]:
    """The lines `here`, each of `added` below the one that it is another wording of, or at the end."""
    below: dict[int, list[str]] = {}
    for line in added:
        few = range(len(here)) if len(here) * len(added) < _MOST_WORDINGS else range(0)
        likest = max(few, key=lambda at, line=line: _likeness(here[at], line), default=-1)  # type: ignore[misc]
        is_wording = likest >= 0 and _likeness(here[likest], line) >= 0.6
        below.setdefault(likest if is_wording else len(here) - 1, []).append(line)
    return [*below.get(-1, []), *(one for at, line in enumerate(here) for one in (line, *below.get(at, [])))]


def _likeness(line: str, other: str) -> float:
    return SequenceMatcher(None, line.split(), other.split(), autojunk=False).ratio()


def _holds(line: str, other: str) -> bool:
    """Whether `line` says all of `other`: with another box, or with words added."""
    if _BOX.sub(r"\1", line).split() == _BOX.sub(r"\1", other).split():
        return True
    words = iter(line.split())
    wanted = other.split()
    return len(wanted) >= 3 and all(word in words for word in wanted)


def only_in(text: str, other: str) -> list[str]:
    """The lines of `text` that `other` has nowhere, without blank ones."""
    mine, theirs = ([line.strip() for line in one.removeprefix("\ufeff").splitlines()] for one in (text, other))
    known = set(theirs)
    return [line for line in mine if line and line not in known]


def propose_sync_copy(
    view: VaultView,
    keep: str,
    copy: str,
    states: Sequence[ProposalState],
    *,
    copy_is_newer: bool,
    now: datetime,
    expires_at: datetime | None,
) -> tuple[Proposal, tuple[PlannedEdit, ...]] | Refusal:
    """The proposal that unites the two, and its exact edits. Never applied without a person."""
    found = plan_sync_copy(view, NotePath(keep), NotePath(copy), copy_is_newer=copy_is_newer)
    if isinstance(found, Refusal):
        return found
    if _is_rewritten(states, keep) and any(one.path == keep and one.removed != one.inserted for one in found.edits):
        return Refusal(f"another change of {keep} waits for you, and this one follows it")
    paths = (keep, copy)
    texts = {path: decode_note(view.contents[NotePath(path)]) for path in paths}
    mine, theirs = only_in(texts[keep], texts[copy]), only_in(texts[copy], texts[keep])
    evidence: dict[str, object] = {"newer": title_of(copy if copy_is_newer else keep)} if mine or theirs else {}
    for name, lines in (("only in the note", mine), ("only in the copy", theirs)):
        if lines:
            evidence[name] = [line[:200] for line in lines[:_SHOWN]]
    if found.problems:
        evidence["to look at"] = [problem.message for problem in found.problems]
    round_ = next_round(states, "sync_copy", paths)
    proposal = Proposal(
        id=proposal_id("sync_copy", paths, round_, [state.proposal.id for state in states]),
        kind="sync_copy",
        paths=paths,
        round=round_,
        at=now,
        expires_at=expires_at,
        titles=(title_of(keep), title_of(copy)),
        hashes={path: content_hash(view.contents[NotePath(path)]) for path in paths},
        confidence=1.0,
        reason=what_differs(texts[keep], texts[copy]),
        judge="names of files",
        evidence=evidence,
    )
    return proposal, found.edits


def _is_rewritten(states: Sequence[ProposalState], path: str) -> bool:
    """Whether an open proposal writes the note's text anew: a second one would be made for what it no longer reads."""
    return any(
        one.removed != one.inserted
        for state in states
        if state.is_open and state.proposal.kind != "link" and path in state.paths
        for one in state.edits
        if one.path == path
    )


def what_differs(text: str, copy: str) -> str:
    """One clause about the two: how many lines only one of them has."""
    mine, theirs = len(only_in(text, copy)), len(only_in(copy, text))
    if not mine and not theirs:
        return "a sync left a copy that says the same"
    counts = [
        f"{number} {'line is' if number == 1 else 'lines are'} only in the {name}"
        for number, name in ((theirs, "copy"), (mine, "note"))
        if number
    ]
    return f"a sync left a copy; {' and '.join(counts)}"
