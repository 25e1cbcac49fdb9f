"""Writing into `DREAM_LOG.md`: the head of a new file, a dated entry, a candidate, a change of status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.notes.plain_text import clean, escape_plain
from aria_dream.synthesis.log_text import FIELDS, LABELS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

MARKER: Final = "synthesis"
"""Value of the property `aria-dream` in a log that we create: what is written is never dreamt."""

NO_LESSONS: Final = "No lessons extracted this pass"
NONE: Final = "None"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCandidate:
    """An improvement that is proposed. It has no status: it is always `proposed`."""

    id: str
    name: str
    evidence: tuple[str, ...]
    failure_class: str
    proposed_change: str
    mutation_proof: str


@dataclass(frozen=True, slots=True)
class Said:
    """What stands under one label."""

    line: str
    """Behind the label."""
    items: tuple[str, ...] = ()
    """Below it, one list item each."""


def render_log_head() -> str:
    """The text of a log without entries."""
    return f"---\naria-dream: {MARKER}\n---\n\n# Dream log\n"


def render_candidate(candidate: NewCandidate) -> str:
    """The candidate's block, its seven fields in order; `parse` of the log gives them back."""
    values = (
        "proposed",
        "; ".join(candidate.evidence),
        candidate.failure_class,
        candidate.proposed_change,
        candidate.mutation_proof,
        "approve / reject / revise",
        "pending",
    )
    lines = [f"- **{name}:** {value}" for name, value in zip(FIELDS, values, strict=True)]
    return "\n".join([f"### {candidate.id} - {candidate.name}", *lines]) + "\n"


def render_entry(
    at: datetime, occasion: str, said: Mapping[str, Said], candidates: Sequence[NewCandidate] = ()
) -> str:
    """One dated section: `## 2026-11-30 (nightly, 03:12)`, the eight labels, then the candidates.

    A label that nothing is said under says "None"; the texts are inert Markdown already.
    """
    lines = [f"## {at:%Y-%m-%d} ({occasion}, {at:%H:%M})", ""]
    for label in LABELS:
        under = said.get(label, Said(NONE))
        lines.append(f"- **{label}:** {under.line or NONE}")
        lines += [f"  - {item}" for item in under.items]
    blocks = ["\n".join(lines) + "\n", *(render_candidate(candidate) for candidate in candidates)]
    return "\n".join(blocks)


def render_status(candidate_id: str, status: str, was: str, evidence: str, at: datetime) -> str:
    """The block that says what the operator decided about a candidate."""
    return (
        f"### status {candidate_id}\n"
        f"- **status:** {status}\n"
        f"- **was:** {was}\n"
        f"- **operator evidence:** {escape_plain(clean(evidence))}\n"
        f"- **recorded:** {at:%Y-%m-%d %H:%M}\n"
    )
