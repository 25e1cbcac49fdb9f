"""Janus by Codex: behind the same wall as a reach, through the same gate, at the cost of the same budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.adapters.gate import ledger
from aria_dream.adapters.gate.authorised_send import note_backoff, send_authorised
from aria_dream.adapters.gate.egress import Turned
from aria_dream.adapters.gate.rate_limit_backoff import read_backoff
from aria_dream.adapters.models.asking import new_nonce
from aria_dream.adapters.models.independent_reviewer import TOO_LONG, NotAsked, one_text, shareable
from aria_dream.judging.prompt_text import Datamark
from aria_dream.reach.budget import BudgetRefusal
from aria_dream.reach.janus import Falls, Stands, Unsure, janus_prompt, parse_janus
from aria_dream.reach.reach import LONGEST_PROMPT
from aria_dream.reach.reach_block import NoAnswer
from aria_dream.reach.reach_record import failure_text, read_end

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, tzinfo
    from pathlib import Path

    from aria_dream.adapters.gate.egress import Gate
    from aria_dream.adapters.gate.ledger import Granted
    from aria_dream.judging.prompt_text import Prompt
    from aria_dream.judging.triage_prompt import Unreadable
    from aria_dream.policy.settings import Settings
    from aria_dream.reach.budget import Resolution
    from aria_dream.reach.janus import Case, JanusVerdict
    from aria_dream.reach.reach_events import ReachEnd
    from aria_dream.usecases.reach_course import Reacher


@dataclass(frozen=True, slots=True, kw_only=True)
class CodexReader:
    """Codex. It satisfies `adapters.models.independent_reviewer.IndependentReviewer`."""

    reacher: Reacher
    prompt: Prompt
    gate: Gate
    state: Path
    """The account's state folder, where the ledger lies."""
    settings: Settings
    zone: tzinfo
    should_stop: Callable[[], str] = lambda: ""
    nonce: Callable[[], str] = new_nonce
    clock: Callable[[], datetime] = ledger.utc_now

    @property
    def name(self) -> str:
        """Codex and its model."""
        return self.reacher.destination

    @property
    def leaves(self) -> bool:
        """Always."""
        return True

    def text_of(self, case: Case) -> str:
        """The prompt as Codex would get it."""
        return self.gate.show_text(shareable(case), lambda: self._text(case))

    def read(self, case: Case) -> JanusVerdict | Unreadable | NotAsked:
        """The verdict. Counted before it is asked for; given back only where nothing was sent.

        Raises:
            TypeError: a part of the case may not leave.
            WriteRefusedError: what leaves cannot be logged, so nothing did; or what came of it cannot be counted.
            BusyError: another process kept the ledger.
        """
        parts, text = shareable(case), self._text(case)
        if refusal := self.gate.text_refusal() or self._paused() or self.reacher.missing():
            return NotAsked(refusal, ends=True)
        if len(text) > LONGEST_PROMPT:
            return NotAsked(TOO_LONG)
        out = send_authorised(
            self.gate, self.settings, self.zone, kind="janus", destination=self.reacher.destination, excerpts=parts,
            text=text, begin=lambda _granted: None, clock=self.clock,
        )  # fmt: skip
        if isinstance(out, BudgetRefusal | Turned):
            return NotAsked(out.reason, ends=True)
        return self._resolved(out.granted, self.reacher.run(out.cleared, out.granted, should_stop=self.should_stop))

    def _paused(self) -> str:
        backoff = read_backoff(self.state, self._now())
        if backoff is None or backoff.until is None:
            return ""
        return f"the plan wants no request before {backoff.until.astimezone(self.zone):%d %b %H:%M}: {backoff.reason}"

    def _resolved(self, granted: Granted, end: ReachEnd) -> JanusVerdict | Unreadable | NotAsked:
        """What came of the run; it stands in the ledger when this returns."""
        outcome, resolution = read_end(end)
        said: JanusVerdict | Unreadable | NotAsked
        if isinstance(outcome, NoAnswer):
            said = NotAsked(f"{outcome.reason} ({'spent' if outcome.sent else 'nothing was sent'})", ends=True)
        else:
            said = parse_janus(end.run.last_message)
            resolution = _resolution(said)
        ledger.settle(
            self.state, self.zone, reach_id=granted.row.id, verdict=resolution, requests=end.run.requests,
            clock=self.clock,
        )  # fmt: skip
        failure = end.run.failure
        note_backoff(self.gate, end, "" if failure is None else failure_text(failure), self._now())
        return said

    def _now(self) -> datetime:
        return self.clock().astimezone(self.zone)

    def _text(self, case: Case) -> str:
        return one_text(janus_prompt(self.prompt, Datamark(self.nonce()), case, can_open=True))


def _resolution(said: JanusVerdict | Unreadable) -> Resolution:
    match said:
        case Stands():
            return "stands"
        case Falls():
            return "falls"
        case Unsure():
            return "unsure"
        case _:
            return "unparsed"
