"""A language model as the judge of a consolidation: asked once a pair and once a conflict, its answer read as an enum.

A model on another machine sees `ShareableExcerpt`s only, through the gate. Nothing is ever cut to fit: what is too long
to be shown whole is left for a person.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Final, TypeVar

from aria_dream.adapters.gate.egress import Cleared, Turned
from aria_dream.adapters.index.resonance import read_note_text
from aria_dream.adapters.models.asking import new_nonce
from aria_dream.adapters.models.model_server import AskFailed
from aria_dream.consolidate.answers import parse_conflict_verdict, parse_pair_verdict
from aria_dream.consolidate.questions import (
    CONFLICT_SCHEMA,
    PAIR_SCHEMA,
    claim_excerpt,
    claim_text,
    conflict_prompt,
    pair_prompt,
    passage_excerpt,
    tokens_of,
    too_long,
    turned,
    turned_evidence,
)
from aria_dream.consolidate.verdict import Escalated, KeepA, KeepB, NeedsHuman, Unreadable
from aria_dream.judging.prompt_text import Datamark, estimate_tokens
from aria_dream.markdown.note import parse_note
from aria_dream.privacy.sharing import ShareableExcerpt, Withheld, excerpt_note, excerpt_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from aria_dream.adapters.gate.egress import Gate
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.adapters.models.asking import Asking
    from aria_dream.adapters.models.model_judge import JudgeReport
    from aria_dream.adapters.models.model_server import Completion, Model
    from aria_dream.adapters.models.verdict_cache import ConsolidationVerdictCache, NoteKey
    from aria_dream.consolidate.passages import Passage
    from aria_dream.consolidate.verdict import Conflict, ConflictVerdict, ConsolidationJudge, NearPair, PairVerdict
    from aria_dream.judging.prompt_text import Messages, Prompt

    Render = Callable[[Datamark], tuple[Messages, list[ShareableExcerpt]] | Withheld]

V = TypeVar("V")
UNSTEADY: Final = "asked the other way round, the judge does not keep the same claim"
_WHOLE: Final = 1_000_000
"""Characters of an excerpt that is not to be cut."""


@dataclass(kw_only=True)
class ModelConsolidationJudge:
    """The model of a server. It satisfies `consolidate.verdict.ConsolidationJudge`."""

    vault: DreamtVault
    model: Model
    asking: Asking
    report: JudgeReport
    pair_question: Prompt
    conflict_question: Prompt
    gate: Gate
    pair_verdicts: ConsolidationVerdictCache
    conflict_verdicts: ConsolidationVerdictCache
    fallback: ConsolidationJudge | None = None
    """Who judges once this model is not asked any more; None: nobody, and the night stops."""
    nonce: Callable[[], str] = new_nonce
    _tokens: int = 0

    @property
    def name(self) -> str:
        """As report and journal name it: the model, or its fallback once that judges."""
        other = self._other()
        return self.asking.name if other is None else other.name

    @property
    def hindrance(self) -> str:
        """Why nobody judges any more, as one clause; `""` while somebody does."""
        is_over = self.asking.over and self.fallback is None
        return f"“{self.asking.name}” is not asked any more: {self.asking.over}" if is_over else ""

    def _other(self) -> ConsolidationJudge | None:
        """Who judges in place of the model; None while that does."""
        return self.fallback if self.asking.over else None

    @property
    def tokens(self) -> int:
        """Of questions and answers so far: as the server counts them, else estimated and never too few."""
        return self._tokens

    def compare(self, pair: NearPair) -> PairVerdict:
        """The model's verdict on the pair. `Escalated` where it may not or cannot be shown both passages whole."""
        if (other := self._other()) is not None:
            return other.compare(pair)
        keys = self._key(pair.first, ""), self._key(pair.second, "")
        known = self.pair_verdicts.pair(*keys, pair.first.text, pair.second.text)
        if known is not None:
            return known
        local = passage_excerpt(pair.first), passage_excerpt(pair.second)

        def render(mark: Datamark) -> tuple[Messages, list[ShareableExcerpt]] | Withheld:
            if self.asking.server.endpoint.is_loopback:
                return pair_prompt(self.pair_question, mark, *local), []
            made = [self._shareable(passage, passage.text) for passage in (pair.first, pair.second)]
            excerpts = [one for one in made if isinstance(one, ShareableExcerpt)]
            withheld = next((one for one in made if isinstance(one, Withheld)), None)
            return withheld or (pair_prompt(self.pair_question, mark, *excerpts), excerpts)

        parse = partial(parse_pair_verdict, first=pair.first.text, second=pair.second.text)
        verdict: PairVerdict = self._verdict(render, PAIR_SCHEMA, parse)
        if self.asking.over and isinstance(verdict, Unreadable):
            return verdict if (other := self._other()) is None else other.compare(pair)
        self.pair_verdicts.keep(*keys, verdict)
        return verdict

    def resolve(self, conflict: Conflict, evidence: str) -> ConflictVerdict:
        """The model's verdict on two claims, `evidence` shown with them. A claim is kept only where it is kept too when
        the other one is asked about first."""
        if (other := self._other()) is not None:
            return other.resolve(conflict, evidence)
        keys = (
            self._key(conflict.first, f"{conflict.first_claim}\0{evidence}"),
            self._key(conflict.second, f"{conflict.second_claim}\0{evidence}"),
        )
        known = self.conflict_verdicts.conflict(*keys)
        if known is not None:
            return known
        verdict = self._claim_that_holds(conflict, evidence)
        if isinstance(verdict, KeepA | KeepB):
            # Small models keep whichever claim stands first: one that means it keeps the same one either way.
            again = self._claim_that_holds(turned(conflict), turned_evidence(evidence))
            if isinstance(again, Unreadable):
                verdict = again
            elif not isinstance(again, KeepB if isinstance(verdict, KeepA) else KeepA):
                verdict = NeedsHuman(reason=UNSTEADY)
            else:
                verdict = replace(verdict, confidence=min(verdict.confidence, again.confidence))
        if self.asking.over and isinstance(verdict, Unreadable):
            return verdict if (other := self._other()) is None else other.resolve(conflict, evidence)
        self.conflict_verdicts.keep(*keys, verdict)
        return verdict

    def _claim_that_holds(self, conflict: Conflict, evidence: str) -> ConflictVerdict:
        """The answer to one question, the claims in the order in which they stand."""
        sides = (conflict.first, conflict.first_claim), (conflict.second, conflict.second_claim)

        def render(mark: Datamark) -> tuple[Messages, list[ShareableExcerpt]] | Withheld:
            if self.asking.server.endpoint.is_loopback:
                first, second = (claim_excerpt(passage, claim) for passage, claim in sides)
                return conflict_prompt(self.conflict_question, mark, first, second, evidence), []
            made = [self._shareable(passage, claim_text(passage, claim)) for passage, claim in sides]
            made.append(excerpt_text(self.vault.sharing, evidence, limit=_WHOLE))
            excerpts = [one for one in made if isinstance(one, ShareableExcerpt)]
            withheld = next((one for one in made if isinstance(one, Withheld)), None)
            if withheld is not None:
                return withheld
            one, two, told = excerpts
            return conflict_prompt(self.conflict_question, mark, one, two, told.text), excerpts

        return self._verdict(render, CONFLICT_SCHEMA, parse_conflict_verdict)

    def _verdict(
        self, render: Render, schema: dict[str, object], parse: Callable[[str], V | Unreadable]
    ) -> V | Escalated | Unreadable:
        """The verdict, its tokens counted."""
        tokens = 0

        def question() -> bytes | Cleared | Escalated | Unreadable:
            nonlocal tokens
            made = self._body(render, schema)
            if not isinstance(made, tuple):
                return made
            body, tokens = made
            return body

        def hear(answer: Completion | AskFailed) -> None:
            if isinstance(answer, AskFailed):
                self._tokens += tokens
            else:
                self._tokens += answer.tokens or tokens + estimate_tokens(answer.text)

        verdict: V | Escalated | Unreadable | AskFailed = self.asking.ask(question, parse, hear)
        self.report.trouble = self.asking.trouble
        if self._other() is not None:
            self.report.trouble += "; the built-in judge finished the night"
        return Unreadable(verdict.reason) if isinstance(verdict, AskFailed) else verdict

    def _body(self, render: Render, schema: dict[str, object]) -> tuple[bytes | Cleared, int] | Escalated | Unreadable:
        """The question with a new nonce, and its tokens: as it is on this machine, through the gate to another."""
        made = render(Datamark(self.nonce()))
        if isinstance(made, Withheld):
            return Escalated(reason=f"not asked, because the judge is another machine and {made.reason}")
        messages, excerpts = made
        if too_long(messages):
            return Escalated(reason="not asked, because the two passages are too long to be shown whole to the model")
        server = self.asking.server
        body = server.body(self.model, messages, schema)
        if server.endpoint.is_loopback:
            return body, tokens_of(messages)
        cleared = self.gate.clear(server.endpoint, excerpts, lambda: body)
        if isinstance(cleared, Turned):
            self.asking.end(cleared.reason)
            return Unreadable(reason=f"not asked, because {cleared.reason}")
        return cleared, tokens_of(messages)

    def _shareable(self, passage: Passage, text: str) -> ShareableExcerpt | Withheld:
        """`text` of the passage, fit to leave. The whole note is asked first how private it is."""
        row = self.vault.row(passage.path)
        if row is None:
            return Withheld("the note is private")
        whole = excerpt_note(self.vault.sharing, parse_note(read_note_text(self.vault, row)), passage.path, limit=1)
        if isinstance(whole, Withheld):
            return whole
        # The line end keeps a passage that begins with a rule from being read as properties.
        return excerpt_note(self.vault.sharing, parse_note(f"\n{text}"), passage.path, limit=_WHOLE)

    def _key(self, passage: Passage, asked: str) -> NoteKey:
        """Content hash of the passage's note, and what else of the passage is shown."""
        row = self.vault.row(passage.path)
        text = sha256(passage.text.encode("utf-8", "surrogatepass")).hexdigest()
        told = f"{passage.title}\0{passage.fingerprint}\0{text}"
        return (b"" if row is None else self.vault.facts[row].content_hash, f"{told}\0{asked}")
