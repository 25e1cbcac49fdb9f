"""L1 by a language model: every pair asked once, its answer read as an enum, its verdict kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aria_dream.adapters.gate.egress import Cleared, Turned
from aria_dream.adapters.index.resonance import read_note_text
from aria_dream.adapters.models.asking import new_nonce
from aria_dream.adapters.models.model_server import AskFailed
from aria_dream.judging.prompt_text import Datamark
from aria_dream.judging.triage_prompt import (
    UNCONNECTED,
    VERDICT_SCHEMA,
    Unreadable,
    excerpt_limit,
    local_excerpt,
    too_long,
    triage_prompt,
    way_text,
    with_passage,
)
from aria_dream.judging.verdict import parse_verdict
from aria_dream.markdown.note import parse_note
from aria_dream.privacy.sharing import ShareableExcerpt, Withheld, excerpt_note, excerpt_text, shareable_title
from aria_dream.ranking.juxtaposition import title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aria_dream.adapters.gate.egress import Gate
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.adapters.models.asking import Asking
    from aria_dream.adapters.models.model_server import Model
    from aria_dream.adapters.models.verdict_cache import NoteKey, VerdictCache
    from aria_dream.judging.dreaming import Judge
    from aria_dream.judging.prompt_text import Messages, Prompt
    from aria_dream.judging.triage_prompt import Verdict
    from aria_dream.ranking.juxtaposition import Juxtaposition


@dataclass(kw_only=True)
class JudgeReport:
    """What became of a judge, for whoever had it sit."""

    trouble: str = ""
    """One sentence without its full stop; `""` where all went well."""


@dataclass(kw_only=True)
class ModelJudge:
    """L1 by the model of a server. It satisfies `judging.dreaming.Judge`."""

    vault: DreamtVault
    model: Model
    prompt: Prompt
    gate: Gate
    verdicts: VerdictCache
    asking: Asking
    report: JudgeReport
    fallback: Callable[[], Judge] | None = None
    """Who judges what is left once this model is not asked any more; None: nobody."""
    nonce: Callable[[], str] = new_nonce
    progress: Callable[[int, int], None] | None = None
    """Told how many of the pairs are judged."""
    _fallback: Judge | None = None

    @property
    def name(self) -> str:
        """As the log names it."""
        return self.asking.name

    def judge(self, found: Sequence[Juxtaposition]) -> Sequence[Verdict]:
        """One verdict a pair, in order. A pair that got no readable answer is `Unreadable` and says why; once nothing
        more is asked, the fallback judges those too."""
        verdicts: list[Verdict] = []
        for one in found:
            verdicts.append(self._verdict(one))
            if self.progress is not None:
                self.progress(len(verdicts), len(found))
        self.report.trouble = self.asking.trouble
        if self.asking.over and self.fallback is not None:
            self._fallback = self._fallback or self.fallback()
            self.report.trouble += "; the built-in judge finished the dream"
            left = [at for at, verdict in enumerate(verdicts) if isinstance(verdict, Unreadable)]
            for at, verdict in zip(left, self._fallback.judge([found[at] for at in left]), strict=True):
                verdicts[at] = replace(verdict, by=self._fallback.name)
        return verdicts

    def _verdict(self, found: Juxtaposition) -> Verdict:
        pair = (self._key(found.from_), self._key(found.to))
        known = self.verdicts.get(*pair)
        if known is not None:
            return known
        asked = self.asking.asked
        verdict: Verdict | AskFailed = self.asking.ask(lambda: self._body(found), parse_verdict)
        if isinstance(verdict, AskFailed):
            verdict = Unreadable(verdict.reason)
        if self.asking.asked > asked and not self.asking.over:
            self.verdicts.put(*pair, verdict)
        return verdict

    def _body(self, found: Juxtaposition) -> bytes | Cleared | Unreadable:
        """The question, with a new nonce: as it is on this machine, through the gate to another."""
        mark = Datamark(self.nonce())
        if not self.asking.server.endpoint.is_loopback:
            return self._cleared(found, mark)
        first, second = (
            local_excerpt(title_of(path), parse_note(self._text(path))) for path in (found.from_, found.to)
        )
        if found.resonance is not None:
            first, second = (
                with_passage(note, quote) for note, quote in zip((first, second), found.resonance.quotes, strict=True)
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
        cleared = self.gate.clear(self.asking.server.endpoint, excerpts, lambda: body)
        if isinstance(cleared, Turned):
            self.asking.end(cleared.reason)
            return Unreadable(f"not asked, because {cleared.reason}")
        return cleared

    def _rendered(self, messages: Messages) -> bytes | Unreadable:
        if too_long(messages):
            return Unreadable("not asked, because prompt and notes are too long for the model's window")
        return self.asking.server.body(self.model, messages, VERDICT_SCHEMA)

    def _text(self, path: str) -> str:
        row = self.vault.row(path)
        return "" if row is None else read_note_text(self.vault, row)

    def _key(self, path: str) -> NoteKey:
        row = self.vault.row(path)
        return (b"" if row is None else self.vault.facts[row].content_hash, title_of(path))
