"""Labelled reach requests before a model, through the gate, budget and wall of a reach; and their sources looked at.

No vault is read: what leaves are the texts of the corpus, as `ShareableExcerpt`s like any others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aria_dream.adapters.gate import ledger
from aria_dream.adapters.gate.authorised_send import note_backoff, send_authorised
from aria_dream.adapters.gate.egress import Turned
from aria_dream.adapters.gate.rate_limit_backoff import read_backoff
from aria_dream.adapters.index.live_policy import shipped_prompt
from aria_dream.adapters.models.asking import new_nonce
from aria_dream.errors import WriteRefusedError
from aria_dream.evals.reach_corpus import (
    ExternalRequest,
    InternalRequest,
    RecordedAnswer,
    answer_record,
    model_record,
)
from aria_dream.judging.prompt_text import Datamark
from aria_dream.notes.jsonl import render_record
from aria_dream.privacy.sharing import ShareableExcerpt, Withheld, excerpt_text
from aria_dream.reach.budget import BudgetRefusal
from aria_dream.reach.reach import (
    PROMPT_NAME,
    Answer,
    ExternalAsk,
    InternalAsk,
    excerpts_of,
    parse_answer,
    reach_prompt,
)
from aria_dream.reach.reach_block import NoAnswer
from aria_dream.reach.reach_record import failure_text, read_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import tzinfo
    from pathlib import Path
    from typing import Protocol

    from aria_dream.adapters.gate.egress import ClearedText, Gate
    from aria_dream.adapters.gate.ledger import Granted
    from aria_dream.evals.reach_corpus import AnsweringModel, CorpusText, Finding, ReachItem
    from aria_dream.policy.settings import Settings
    from aria_dream.privacy.sharing import Sharing
    from aria_dream.reach.reach_events import ReachEnd
    from aria_dream.usecases.eval_sources import SourceCheck

    class Asker(Protocol):
        """What is needed of a `reach_course.Reacher`."""

        @property
        def destination(self) -> str: ...
        def missing(self) -> str: ...
        def run(self, cleared: ClearedText, granted: Granted, *, should_stop: Callable[[], str]) -> ReachEnd: ...


@dataclass(frozen=True, slots=True)
class Unasked:
    """Why no answer came; nobody is asked any more."""

    reason: str
    """One sentence without its full stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveAsker:
    """Asks the corpus' requests, one at a time, each counted before it is sent."""

    asker: Asker
    gate: Gate
    sharing: Sharing
    settings: Settings
    state: Path
    zone: tzinfo
    model: str
    """As the answers name it."""
    nonce: Callable[[], str] = new_nonce

    def answer(self, item: ReachItem) -> RecordedAnswer | Unasked:
        """The model's answer, or why there is none.

        Raises:
            WriteRefusedError: what leaves cannot be logged, so nothing did.
            BusyError: another process kept the ledger.
        """
        ask = _ask(self.sharing, item)
        if isinstance(ask, Withheld):
            return Unasked(ask.reason)
        if refusal := self.gate.text_refusal() or self.asker.missing() or self._paused():
            return Unasked(refusal)
        text = reach_prompt(
            shipped_prompt(PROMPT_NAME).prompt, Datamark(self.nonce()), ask,
            max_web_turns=self.settings.max_web_turns,
        )  # fmt: skip
        out = send_authorised(
            self.gate, self.settings, self.zone, kind=_kind(item), destination=self.asker.destination,
            excerpts=excerpts_of(ask), text=text, begin=lambda _granted: None,
        )  # fmt: skip
        if isinstance(out, BudgetRefusal | Turned):
            return Unasked(out.reason)
        return self._read(item, out.granted, self.asker.run(out.cleared, out.granted, should_stop=lambda: ""))

    def _paused(self) -> str:
        backoff = read_backoff(self.state, ledger.utc_now().astimezone(self.zone))
        return "" if backoff is None or backoff.until is None else f"the plan wants no request now: {backoff.reason}"

    def _read(self, item: ReachItem, granted: Granted, end: ReachEnd) -> RecordedAnswer | Unasked:
        outcome, resolution = read_end(end)
        ledger.settle(
            self.state, self.zone, reach_id=granted.row.id, verdict=resolution, requests=end.run.requests
        )  # fmt: skip
        failure = end.run.failure
        told = "" if failure is None else failure_text(failure)
        note_backoff(self.gate, end, told, ledger.utc_now().astimezone(self.zone))
        if isinstance(outcome, NoAnswer):
            return Unasked(outcome.reason)
        return RecordedAnswer(
            item=item.id, model=self.model, text=end.run.last_message,
            requests=end.run.requests, seconds=round(end.seconds, 1),
        )  # fmt: skip


def _kind(item: ReachItem) -> str:
    return "external" if item.is_external else "internal"


def _ask(sharing: Sharing, item: ReachItem) -> InternalAsk | ExternalAsk | Withheld:
    match item.request:
        case InternalRequest(first=first, second=second, way=way, reason=reason):
            parts = _shared(sharing, (_titled(first), _titled(second), ("", way), ("", reason)))
            if isinstance(parts, Withheld):
                return parts
            return InternalAsk(first=parts[0], second=parts[1], way=parts[2], reason=parts[3])
        case ExternalRequest(header=header, source=source, struck=struck, resonance=resonance):
            parts = _shared(sharing, [("", text) for text in (header, source, struck, resonance)])
            if isinstance(parts, Withheld):
                return parts
            return ExternalAsk(header=parts[0], source=parts[1], struck=parts[2], resonance=parts[3])


def _titled(text: CorpusText) -> tuple[str, str]:
    return text.title, text.text


def _shared(sharing: Sharing, texts: Iterable[tuple[str, str]]) -> list[ShareableExcerpt] | Withheld:
    made: list[ShareableExcerpt] = []
    for title, text in texts:
        part = excerpt_text(sharing, text, title=title)
        if isinstance(part, Withheld):
            return part
        made.append(part)
    return made


def look_at_sources(
    items: Sequence[ReachItem],
    answers: Sequence[RecordedAnswer],
    check: SourceCheck,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[tuple[RecordedAnswer, ...], bool]:
    """The answers with what became of each address they cite, and whether any server answered at all.

    Where none did the network is away, and nothing that was found counts: the answers come back as they were.
    """
    about = {item.id: item.about for item in items}
    looked: list[RecordedAnswer] = []
    reached = False
    for answer in answers:
        said = parse_answer(answer.text)
        found: dict[str, Finding] = dict(answer.findings)
        for source in said.sources if isinstance(said, Answer) and answer.item in about else ():
            if source.url:
                checked = check.check(source.url, about[answer.item])
                found[source.url] = checked.finding
                reached = reached or checked.reached
        looked.append(replace(answer, findings=found))
        if progress is not None:
            progress(len(looked), len(answers))
    return (tuple(looked) if reached else tuple(answers)), reached


def save_answers(path: Path, models: Mapping[str, AnsweringModel], answers: Sequence[RecordedAnswer]) -> None:
    """Writes models and answers, so that they can be scored again without asking anybody.

    Raises:
        WriteRefusedError: the disk would not; what stood there is as it was.
    """
    records = [model_record(model) for model in models.values()] + [answer_record(answer) for answer in answers]
    temp = path.with_name(f".{path.name}.tmp")
    try:
        temp.write_text("".join(map(render_record, records)), encoding="utf-8", newline="\n")
        temp.replace(path)
    except OSError as error:
        raise WriteRefusedError(f"{path} was not written: {error.strerror or error}") from error
