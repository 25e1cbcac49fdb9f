"""L1 by a language model: every pair asked once, its answer read as an enum, its verdict kept."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aria_dream.dream.datamark import NONCE_BYTES, Datamark
from aria_dream.dream.juxtaposition import title_of
from aria_dream.dream.triage import Drop, Keep, Unreadable
from aria_dream.dream.triage_prompt import (
    UNCONNECTED,
    VERDICT_SCHEMA,
    excerpt_limit,
    local_excerpt,
    too_long,
    triage_prompt,
    way_text,
)
from aria_dream.dream.verdict import parse_verdict
from aria_dream.effects.egress import Cleared, Turned
from aria_dream.effects.model_server import AskFailed
from aria_dream.effects.resonance import read_note_text
from aria_dream.policy.sharing import ShareableExcerpt, Withheld, excerpt_note, excerpt_text, shareable_title
from aria_dream.vault.note import parse_note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aria_dream.dream.dreaming import Judge
    from aria_dream.dream.juxtaposition import Juxtaposition
    from aria_dream.dream.prompt_text import Messages, Prompt
    from aria_dream.dream.triage import Verdict
    from aria_dream.effects.dreamt_vault import DreamtVault
    from aria_dream.effects.egress import Gate
    from aria_dream.effects.model_server import Model, ModelServer
    from aria_dream.effects.verdict_cache import NoteKey, VerdictCache

FAILURES_BORNE = 3
"""So many questions in a row without an answer, and the rest of the dream is not asked."""


def new_nonce() -> str:
    """A nonce for the sentinels of one call."""
    return secrets.token_hex(NONCE_BYTES)


def shown_name(model: Model) -> str:
    """The model as a person names it. llama.cpp names one by its file's path."""
    is_file = model.name.lower().endswith(".gguf")
    return re.split(r"[/\\]", model.name)[-1][: -len(".gguf")] if is_file else model.name


@dataclass(kw_only=True)
class ModelJudge:
    """L1 by the model of a server. It satisfies `dream.dreaming.Judge`."""

    vault: DreamtVault
    server: ModelServer
    model: Model
    prompt: Prompt
    gate: Gate
    verdicts: VerdictCache
    instead: Callable[[], Judge] | None = None
    """Who judges where this model has not answered a single question; None: nobody."""
    nonce: Callable[[], str] = new_nonce
    progress: Callable[[int, int], None] | None = None
    """Told how many of the pairs are judged."""
    problems: list[str] = field(default_factory=list)
    """What went wrong, in sentences for the writer."""
    _failures: int = 0
    _answers: int = 0
    _gone: str = ""
    _deputy: Judge | None = None

    @property
    def name(self) -> str:
        """As the log names it: the model, or whoever had to stand in."""
        return self._deputy.name if self._deputy is not None else shown_name(self.model)

    def judge(self, found: Sequence[Juxtaposition]) -> Sequence[Verdict]:
        """One verdict a pair, in order. A pair that got no readable answer is `Unreadable` and says why."""
        if self._deputy is None:
            verdicts: list[Verdict] = []
            for one in found:
                verdicts.append(self._verdict(one))
                if self.progress is not None:
                    self.progress(len(verdicts), len(found))
            if not self._gone:
                return verdicts
            if self._answers or self.instead is None:
                self._tell(f"“{self.name}” does not answer any more: {self._gone}")
                return verdicts
            self.problems.append(f"“{self.model.name}” did not answer: {self._gone}. The judge inside sat instead.")
            self._deputy = self.instead()
        return self._deputy.judge(found)

    def _tell(self, sentence: str) -> None:
        if sentence not in self.problems:
            self.problems.append(sentence)

    def _verdict(self, found: Juxtaposition) -> Verdict:
        pair = (self._key(found.from_), self._key(found.to))
        known = self.verdicts.get(*pair)
        if known is not None:
            self._answers += not isinstance(known, Unreadable)
            return known
        if self._gone:
            return Unreadable(f"not asked, because {self._gone}")
        body = self._body(found)
        if isinstance(body, Unreadable):
            return body
        verdict = self._asked(found, body)
        if not self._gone:
            self.verdicts.put(*pair, verdict)
        return verdict

    def _asked(self, found: Juxtaposition, body: bytes | Cleared) -> Keep | Drop | Unreadable:
        """The verdict; a broken connection, a busy server and an unreadable answer have one more try."""
        for last in (False, True):
            answer = self.server.ask(body)
            if isinstance(answer, AskFailed):
                verdict: Keep | Drop | Unreadable = Unreadable(answer.reason)
                again = answer.retry
            else:
                verdict = parse_verdict(answer.text)
                again = isinstance(verdict, Unreadable)
            if last or not again:
                break
            next_body = self._body(found)
            if isinstance(next_body, Unreadable):
                break
            body = next_body
        self._count(answer if isinstance(answer, AskFailed) else None)
        return verdict

    def _count(self, failed: AskFailed | None) -> None:
        if failed is None:
            self._failures, self._answers = 0, self._answers + 1
            return
        self._failures += 1
        if failed.is_gone or self._failures >= FAILURES_BORNE:
            self._gone = failed.reason

    def _body(self, found: Juxtaposition) -> bytes | Cleared | Unreadable:
        """The question, with a new nonce: as it is on this machine, through the gate to another."""
        mark = Datamark(self.nonce())
        if not self.server.endpoint.is_loopback:
            return self._cleared(found, mark)
        first, second = (
            local_excerpt(title_of(path), parse_note(self._text(path))) for path in (found.from_, found.to)
        )
        way = way_text(None if found.path is None else [title_of(step) for step in found.path])
        return self._rendered(triage_prompt(self.prompt, mark, first, second, way))

    def _cleared(self, found: Juxtaposition, mark: Datamark) -> Cleared | Unreadable:
        sharing = self.vault.sharing
        steps = [] if found.path is None else [shareable_title(sharing, step) for step in found.path]
        notes = [(path, parse_note(self._text(path))) for path in (found.from_, found.to)]
        made = (
            *(excerpt_note(sharing, note, path, limit=excerpt_limit(note.text[note.body_start :]))
              for path, note in notes),
            excerpt_text(sharing, way_text(steps) if steps else UNCONNECTED),
        )  # fmt: skip
        excerpts = [one for one in made if isinstance(one, ShareableExcerpt)]
        withheld = next((one for one in made if isinstance(one, Withheld)), None)
        if withheld is not None:
            return Unreadable(f"not asked, because the judge is another machine and {withheld.reason}")
        first, second, way = excerpts
        body = self._rendered(triage_prompt(self.prompt, mark, first, second, way.text))
        if isinstance(body, Unreadable):
            return body
        cleared = self.gate.clear(self.server.endpoint, excerpts, lambda: body)
        if isinstance(cleared, Turned):
            self._gone = cleared.reason
            return Unreadable(f"not asked, because {cleared.reason}")
        return cleared

    def _rendered(self, messages: Messages) -> bytes | Unreadable:
        if too_long(messages):
            return Unreadable("not asked, because prompt and notes are too long for the model's window")
        return self.server.body(self.model, messages, VERDICT_SCHEMA)

    def _text(self, path: str) -> str:
        row = self.vault.row(path)
        return "" if row is None else read_note_text(self.vault, row)

    def _key(self, path: str) -> NoteKey:
        row = self.vault.row(path)
        return (b"" if row is None else self.vault.facts[row].content_hash, title_of(path))
