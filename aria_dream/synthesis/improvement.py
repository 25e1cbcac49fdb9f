"""Improvement candidates: repeatable gaps that the evidence names. This code proposes them and does nothing more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aria_dream.notes.plain_text import unescape_plain
from aria_dream.synthesis.admission import TWO_EVENTS, is_failure
from aria_dream.synthesis.claim_words import Role, names_gap
from aria_dream.synthesis.entry import NewCandidate
from aria_dream.synthesis.reference import identity
from aria_dream.synthesis.wording import citable, quotable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.synthesis.claims import Claim
    from aria_dream.synthesis.log_text import Candidate
    from aria_dream.synthesis.patterns import Pattern

NAME_WORDS: Final = 7
_STOP = frozenset(
    {
        "a", "an", "and", "are", "as", "at", "be", "because", "been", "before", "but", "by", "for", "from",
        "had", "has", "have", "if", "in", "into", "is", "it", "its", "of", "off", "on", "or", "so", "than",
        "that", "the", "their", "then", "there", "they", "this", "to", "was", "were", "when", "which",
        "while", "with", "would", "again",
    }
)  # fmt: skip
_ID = re.compile(r"ni-(\d{8})-(\d+)")


def gap_of(pattern: Pattern, claims: Sequence[Claim]) -> tuple[str, str] | None:
    """`(failure class, smallest change)` of a pattern that is a repeatable gap; None for all others.

    A gap has failed in at least two independent events, and a source says what is missing or what would mend it.
    """
    if len(pattern.events) < TWO_EVENTS or not any(is_failure(claim) for claim in pattern.claims):
        return None
    entries = {id(claim.entry) for claim in pattern.claims}
    beside = [claim for claim in claims if id(claim.entry) in entries]
    remedy = next((claim.text for claim in beside if claim.role is Role.REMEDY), "")
    gap = next((c.text for c in beside if c.role is Role.GAP or names_gap(c.text)), "")
    if not remedy and not gap:
        return None
    named = (claim.entry.properties.get("failure_class", "") for claim in pattern.claims)
    failure_class = next((name for name in named if name), "") or gap or pattern.text
    return failure_class, remedy or f"add one check that fails when this happens: {pattern.text}"


def next_candidate_number(candidates: Sequence[Candidate], day: str) -> int:
    """One more than the largest number that any candidate of the local `day` (`20261130`) has."""
    found = (match for one in candidates if (match := _ID.fullmatch(one.id.lower())) and match[1] == day)
    return max((int(match[2]) for match in found), default=0) + 1


def make_candidate(pattern: Pattern, gap: tuple[str, str], day: str, number: int) -> NewCandidate:
    """The candidate `ni-DAY-NN` for a gap."""
    failure_class, change = gap
    refs = tuple(map(citable, pattern.refs))
    name = quotable(short_name(pattern.text), refs[0])
    check = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:48].strip("-") or f"gap-{number:02d}"
    return NewCandidate(
        id=f"ni-{day}-{number:02d}",
        name=name,
        evidence=refs,
        failure_class=quotable(failure_class, refs[0]),
        proposed_change=quotable(change, refs[0]),
        mutation_proof=f"break: take the change out and let the failure of {refs[0]} happen -> {check} red;"
        f" restore: put the change back -> {check} green",
    )


def short_name(text: str) -> str:
    """The first telling words of `text`."""
    words = re.findall(r"[\w'’-]+", text)
    telling = [word for word in words if word.casefold() not in _STOP] or words
    return " ".join(telling[:NAME_WORDS]) or "a repeatable gap"


def is_known(pattern: Pattern, candidates: Sequence[Candidate]) -> bool:
    """Whether an earlier candidate, whatever became of it, was made of the same evidence or bears the same name."""
    name = quotable(short_name(pattern.text), pattern.refs[0]).casefold()
    refs = {identity(citable(ref)) for ref in pattern.refs} - {""}
    for one in candidates:
        cited = {identity(unescape_plain(ref.strip().removesuffix("."))) for ref in one.first("evidence").split(";")}
        if one.name.casefold() == name or len(cited & refs) >= TWO_EVENTS:
            return True
    return False
