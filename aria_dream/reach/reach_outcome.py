"""What a run that reached out amounts to: an answer, something unreadable, or why there is none. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from aria_dream.judging.datamark import harmless_text
from aria_dream.notes.plain_text import clean
from aria_dream.reach.citation import inert
from aria_dream.reach.reach import Answer, Unparsed, parse_answer
from aria_dream.reach.reach_block import NoAnswer, legible

if TYPE_CHECKING:
    from aria_dream.reach.budget import Resolution
    from aria_dream.reach.reach_events import Failure, FailureKind, ReachEnd

LONGEST_REASON = 200
"""Characters of what the program said about its failure."""
BROKEN_OFF = NoAnswer(reason="it was broken off before its answer was kept", sent=True)
"""The outcome of a reach whose process was torn away in the middle."""

_REFUSALS: frozenset[FailureKind] = frozenset({"login", "usage limit", "rate limit"})
"""What a server says to this account (401, 403, 429). `capacity` says nothing about it: every 500 and 503 is one."""


def read_end(end: ReachEnd) -> tuple[Answer | Unparsed | NoAnswer, Resolution]:
    """What came of the reach, and how the ledger says it.

    `unsent` only where nothing can have left; whatever was ended from outside after that is `aborted`, with what it
    had said so far.
    """
    run = end.run
    partial = legible(end.partial or run.last_message)
    if end.stopped:
        reason = _bounded(end.stopped)
        if not run.sent:
            return NoAnswer(reason=reason, sent=False), "unsent"
        return NoAnswer(reason=reason, sent=True, partial=partial), "aborted"
    if run.failure is not None or not run.sent:
        reason = "Codex ended without a word" if run.failure is None else failure_text(run.failure)
        if not run.sent:
            return NoAnswer(reason=reason, sent=False), "unsent"
        refused = run.failure is not None and run.failure.kind in _REFUSALS
        return NoAnswer(reason=reason, sent=True, partial=partial), "refused" if refused else "failed"
    answer = parse_answer(run.last_message)
    match answer:
        case Answer():
            return answer, answer.verdict
        case Unparsed(raw):
            return Unparsed(legible(raw)), "unparsed"
        case _:
            assert_never(answer)


def failure_text(failure: Failure) -> str:
    """Why there is no answer, as one clause for the writer; what the program said is text that does nothing."""
    said = _bounded(failure.message)
    if failure.kind == "not started" and said:  # ours, or the program's own first words
        return said
    return f"{_SAID[failure.kind]} ({said})" if said else _SAID[failure.kind]


_SAID: dict[FailureKind, str] = {
    "unreachable": "Codex could not reach its server",
    "login": "the login was not accepted; log in with `codex login`",
    "usage limit": "the plan's usage limit is reached",
    "rate limit": "the server asked to come back later",
    "capacity": "the server failed, or has no room for this model now",
    "cut": "the connection ended before the answer did",
    "not started": "Codex did not start",
    "failed": "the server or Codex failed",
}


def _bounded(text: str) -> str:
    said = clean(inert(clean(harmless_text(text[: 20 * LONGEST_REASON]))))
    return said if len(said) <= LONGEST_REASON else clean(said[: LONGEST_REASON - 1]) + "…"
