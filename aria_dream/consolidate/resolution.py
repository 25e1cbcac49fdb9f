"""A contradiction that a judge has settled, as a proposal: the claim that falls is struck through, with a link to the
one that stands. Nothing is lost: both can still be read, and the change can be taken back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, assert_never

from aria_dream.consolidate.verdict import BothValid, Escalated, KeepA, KeepB, NeedsHuman, Unreadable
from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.review.changes import Replacement, plan_replacements
from aria_dream.review.proposal import Proposal, next_round, proposal_id
from aria_dream.vault.edit import Refusal, content_hash, decode_note
from aria_dream.vault.link_form import link_target, render_link

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from aria_dream.consolidate.passages import Passage
    from aria_dream.consolidate.verdict import Conflict, ConflictVerdict
    from aria_dream.markdown.note import Note
    from aria_dream.review.plan import Planned, VaultView
    from aria_dream.review.proposal import PlannedEdit, ProposalState

_HEADING_IN_LINK: Final = re.compile(r"[^\[\]|#^\r\n%:\\]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """What every settled contradiction of one night has in common."""

    view: VaultView
    """Holds the notes of both claims."""
    states: Sequence[ProposalState]
    """Every proposal so far."""
    now: datetime
    expires_at: datetime | None
    judge: str
    floor: float
    """`confidence_floor`: below it nothing is decided."""
    truths: frozenset[str] = frozenset()
    """Vault paths of the notes that the policy calls right: no judge strikes what they say."""


def settle_conflict(
    conflict: Conflict, verdict: ConflictVerdict, evidence: str, settling: Settling
) -> tuple[Proposal, tuple[PlannedEdit, ...]] | Refusal:
    """The proposal and its exact edits; or why the contradiction stays open for a person.

    Only `KeepA` and `KeepB` of at least the floor's confidence become proposals. Everything else is left open: a judge
    that calls both valid may be wrong, and what a person has not seen is not decided.
    """
    match verdict:
        case KeepA() | KeepB():
            if verdict.confidence < settling.floor:
                held = f"{verdict.confidence:.2f} is below `confidence_floor: {settling.floor:g}`"
                return Refusal(f"the judge is not sure enough, {held}: {verdict.reason}")
            return _proposed(conflict, verdict, evidence, settling)
        case BothValid():
            return Refusal(f"the judge finds both valid: {verdict.reason}")
        case NeedsHuman():
            return Refusal(f"the judge leaves it to you: {verdict.reason}")
        case Escalated() | Unreadable():
            return Refusal(verdict.reason)
        case _:
            assert_never(verdict)


def _proposed(
    conflict: Conflict, verdict: KeepA | KeepB, evidence: str, settling: Settling
) -> tuple[Proposal, tuple[PlannedEdit, ...]] | Refusal:
    sides = (conflict.first, conflict.first_claim), (conflict.second, conflict.second_claim)
    (kept, stands), (loser, falls) = sides if isinstance(verdict, KeepA) else sides[::-1]
    if loser.path in settling.truths and kept.path not in settling.truths:
        return Refusal(f"the judge is against “{loser.title}”, which the policy calls right: {verdict.reason}")
    found = plan_struck(settling.view, loser, falls, kept)
    if isinstance(found, Refusal):
        return found
    paths = tuple(dict.fromkeys((loser.path, kept.path)))
    round_ = next_round(settling.states, "resolve_contradiction", paths)
    taken = [state.proposal.id for state in settling.states]
    contents = settling.view.contents
    proposal = Proposal(
        id=proposal_id("resolve_contradiction", paths, round_, taken),
        kind="resolve_contradiction",
        paths=paths,
        round=round_,
        at=settling.now,
        expires_at=settling.expires_at,
        titles=tuple(map(title_of, paths)),
        hashes={path: content_hash(contents[NotePath(path)]) for path in paths if NotePath(path) in contents},
        confidence=verdict.confidence,
        reason=verdict.reason,
        judge=settling.judge,
        evidence={
            "kept": f"“{kept.title}”: {' '.join(stands.split())}",
            "struck": f"“{loser.title}”: {' '.join(falls.split())}",
            "facts": _told(conflict, evidence),
        },
    )
    return proposal, found.edits


def _told(conflict: Conflict, evidence: str) -> list[str]:
    """The evidence for a person: the notes by their titles, and without what says that there is none."""
    titles = {"(a)": f"“{conflict.first.title}”:", "(b)": f"“{conflict.second.title}”:"}
    lines = [line for line in evidence.splitlines() if not line.endswith(("names no source", "link to it: 0"))]
    return [
        re.sub(r"\([ab]\)", lambda found: titles[found[0]].rstrip(":") if found.start() else titles[found[0]], line)
        for line in lines
        if not line.startswith("Both speak of:")
    ]


def plan_struck(view: VaultView, loser: Passage, falls: str, kept: Passage) -> Planned | Refusal:
    """The change that strikes `falls` in the note of `loser` and links to the passage that stands.

    Refused where the sentence is not there any more, stands there more than once on equal lines, or where the struck
    note would read otherwise than before in anything but this.
    """
    path = NotePath(loser.path)
    content = view.contents.get(path)
    if content is None:
        return Refusal(f"{path} is not in the vault (any more)")
    text = decode_note(content)
    at = _place(text, loser, falls)
    if at < 0:
        return Refusal(f"the claim is not in {path} (any more)")
    link = _link(view, loser.path, kept)
    if not link:
        return Refusal(f"no link from {path} would lead to {kept.path}")
    old, start = _unique(text, at, len(falls))
    if not old:
        return Refusal(f"the claim stands in {path} more than once")
    new = f"{old[: at - start]}~~{falls}~~ ({link}){old[at - start + len(falls) :]}"
    after = parse_note(text[:start] + new + text[start + len(old) :])
    before = parse_note(text)
    if len(after.links) != len(before.links) + 1 or _facts(after) != _facts(before):
        return Refusal(f"striking the claim would change more of {path} than the claim")
    return plan_replacements(view, [Replacement(path=path, old=old, new=new)])


def _place(text: str, passage: Passage, claim: str) -> int:
    """Where the claim stands in the note: in its own passage if that is where it was, else its first place."""
    inside = passage.text.find(claim)
    at = passage.start + inside
    return at if inside >= 0 and text.startswith(claim, at) else text.find(claim)


def _unique(text: str, at: int, length: int) -> tuple[str, int]:
    """The claim's whole lines, with so many around them that they stand in the note once, and where that begins; `""`
    where even those stand there twice. Whole lines, so that a claim which was struck meanwhile is not found again."""
    end = at + length
    line_start = text.rfind("\n", 0, at) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    above = text.rfind("\n", 0, max(0, line_start - 1)) + 1
    for low, high in ((line_start, line_end), (above, line_end), (above, min(len(text), line_end + 200))):
        old = text[low:high]
        if text.count(old) == 1:
            return old, low
    return "", at


def _link(view: VaultView, source: str, kept: Passage) -> str:
    """A link to the passage that stands: to its heading where a link can name it."""
    heading = kept.headings[-1] if kept.headings else ""
    can_name = heading and _HEADING_IN_LINK.fullmatch(heading) and not view.app.use_markdown_links
    if kept.path == source:
        return f"[[#{heading}]]" if can_name else ""
    resolver = view.resolver()
    target = link_target(resolver, view.app, kept.path, source)
    whole = render_link(resolver, view.app, kept.path, source, title_of(kept.path))
    if can_name and target and whole.startswith("[["):
        return f"[[{target}#{heading}]]"
    return whole


def _facts(note: Note) -> tuple[object, ...]:
    """What striking a claim must leave as it is."""
    return (
        note.properties,
        note.tags,
        [(found.level, found.text) for found in note.headings],
        [block.name for block in note.block_ids],
        len(note.opaque),
    )
