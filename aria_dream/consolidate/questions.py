"""What a model is asked in a consolidation, in the words of its two prompts, and the form its answer must have."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from aria_dream.judging.prompt_text import Messages, Prompt, estimate_tokens, fill_prompt
from aria_dream.judging.triage_prompt import LONGEST_REASON, WINDOW, LocalExcerpt
from aria_dream.markdown.note import parse_note
from aria_dream.notes.plain_text import clean

if TYPE_CHECKING:
    from aria_dream.consolidate.passages import Passage
    from aria_dream.consolidate.verdict import Conflict
    from aria_dream.judging.triage_prompt import Excerpt, Mark

DUPLICATES_PROMPT: Final = "consolidate-duplicates"
CONTRADICTIONS_PROMPT: Final = "consolidate-contradictions"
RECIPE: Final = "1"
"""Part of a verdict's key: raise it with every change here that changes what a model is asked."""
LONGEST_WORDING: Final = 2_000
"""Characters of a text that a model may propose."""
ANSWER_TOKENS: Final = 1_200
"""Enough for the longest wording in a script of one token a letter; an answer that ends here is a broken one."""
AROUND_CLAIM: Final = 600
"""Characters of the passage before and behind a claim that are shown with it."""

_REASON: Final[dict[str, object]] = {"type": "string", "maxLength": LONGEST_REASON}
_CONFIDENCE: Final[dict[str, object]] = {"enum": [step / 20 for step in range(21)]}
"""Steps, because the grammar that llama.cpp makes of a schema knows no bounds of a number: a model then said 100."""
PAIR_SCHEMA: Final[dict[str, object]] = {
    "type": "object",
    "properties": {
        "reason": _REASON,
        "verdict": {"type": "string", "enum": ["merge", "not_duplicate", "normalize"]},
        "confidence": _CONFIDENCE,
        "wording": {"type": "string", "maxLength": LONGEST_WORDING},
    },
    "required": ["reason", "verdict", "confidence", "wording"],
    "additionalProperties": False,
}
"""The reason stands first because constrained generation follows the order of the properties."""
CONFLICT_SCHEMA: Final[dict[str, object]] = {
    "type": "object",
    "properties": {
        "reason": _REASON,
        "verdict": {"type": "string", "enum": ["keep_a", "keep_b", "both_valid", "needs_human"]},
        "confidence": _CONFIDENCE,
    },
    "required": ["reason", "verdict", "confidence"],
    "additionalProperties": False,
}


def passage_excerpt(passage: Passage) -> LocalExcerpt:
    """The whole passage as a judge on this machine may read it: without comments. Never cut: half a passage may be
    half of what tells two apart."""
    return LocalExcerpt(title=clean(passage.title), text=_without_comments(passage.text))


def claim_excerpt(passage: Passage, claim: str) -> LocalExcerpt:
    """The claim and what stands around it."""
    return LocalExcerpt(title=clean(passage.title), text=claim_text(passage, claim))


def claim_text(passage: Passage, claim: str) -> str:
    """The claim on a line, and up to `AROUND_CLAIM` characters of its passage on either side, without comments."""
    at = max(0, passage.text.find(claim))
    start, end = max(0, at - AROUND_CLAIM), at + len(claim) + AROUND_CLAIM
    around = ("…" if start else "") + passage.text[start:end] + ("…" if end < len(passage.text) else "")
    return f"Claim: {clean(claim)}\n\nAround it:\n{_without_comments(around)}"


def _without_comments(text: str) -> str:
    note = parse_note(f"\n{text}")
    pieces, at = [], 1
    for span in sorted(note.opaque, key=lambda span: span.start):
        if note.text.startswith(("%%", "<!--"), span.start):
            pieces.append(note.text[at : span.start])
            at = max(at, span.end)
    return re.sub(r"\n{3,}", "\n\n", "".join((*pieces, note.text[at:]))).strip()


def pair_prompt(prompt: Prompt, mark: Mark, first: Excerpt, second: Excerpt) -> Messages:
    """The messages that ask whether two passages say the same. All of theirs is wrapped by `mark`."""
    return fill_prompt(
        prompt,
        {
            "sentinel_open": mark.opener,
            "sentinel_close": mark.closer,
            "note_a": mark.wrap(_titled(first)),
            "note_b": mark.wrap(_titled(second)),
        },
    )


def conflict_prompt(prompt: Prompt, mark: Mark, first: Excerpt, second: Excerpt, evidence: str) -> Messages:
    """The messages that ask which of two claims holds. Evidence quotes notes, so it is wrapped too."""
    return fill_prompt(
        prompt,
        {
            "sentinel_open": mark.opener,
            "sentinel_close": mark.closer,
            "claim_a": mark.wrap(_titled(first)),
            "claim_b": mark.wrap(_titled(second)),
            "evidence": mark.wrap(evidence),
        },
    )


def turned(conflict: Conflict) -> Conflict:
    """The same conflict with the second claim first."""
    return replace(
        conflict,
        first=conflict.second,
        second=conflict.first,
        first_claim=conflict.second_claim,
        second_claim=conflict.first_claim,
    )


def turned_evidence(evidence: str) -> str:
    """Evidence with `(a)` and `(b)` exchanged, as it belongs to the turned conflict."""
    return re.sub(r"\(([ab])\)", lambda found: "(b)" if found[1] == "a" else "(a)", evidence)


def tokens_of(messages: Messages) -> int:
    """Tokens of the messages, estimated and never too few."""
    return estimate_tokens(messages.system) + estimate_tokens(messages.user)


def too_long(messages: Messages) -> bool:
    """Whether the messages and an answer might not fit into a model's window: a server would cut them silently."""
    return tokens_of(messages) + ANSWER_TOKENS > WINDOW


def _titled(excerpt: Excerpt) -> str:
    return f"Title: {excerpt.title}\n\n{excerpt.text}"
