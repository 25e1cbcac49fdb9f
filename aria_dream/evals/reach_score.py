"""What a model's answers to labelled reach requests are worth: the rubric and the rule of the reach's specification.

A false ORPHAN is the expensive error, because it sends a person and a second model after something that is in a
textbook. A fabricated source fails the answer whatever its verdict. Of an external request the answer must test the
claim against its source. Prose counts for nothing.

Whether an answer tests the claim against its source is told by what it holds, in whatever language: the prompt asks for
a line `Tested:` with a word or a figure of the source as it stands there. So nothing has to be understood: who looked
at the source can show a piece of it that the claim does not hold already.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from aria_dream.evals.reach_corpus import ExternalRequest
from aria_dream.ranking.function_words import function_words
from aria_dream.reach.reach import Answer, parse_answer
from aria_dream.vault.names import fold_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.evals.reach_corpus import AnsweringModel, Finding, ReachItem, RecordedAnswer
    from aria_dream.reach.reach import ReachVerdict

_LABELS = (
    "tested|test|checked|geprüft|getestet|prüfung|testé|vérifié|probado|comprobado|verificado|testado|testato"
    "|verificato|getest|getoetst|sprawdzono|przetestowano|проверено|проверка|检验|檢驗|核实|検証|검증"
)
"""The contract says `Tested:`, and a model that answers in the seed's language forgets."""
_LINE = re.compile(rf"[*_ >-]*(?:{_LABELS})[^:：]{{0,40}}[:：][*_ ]*(?P<said>\S.*)", re.IGNORECASE)
_PIECE = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LEAST_LETTERS = 4
_FEW = 3
"""Pieces of its own below which a source (a bare address, a title) says nothing that could be shown."""


def is_tested(argument: Sequence[str], source: str, claim: str) -> bool:
    """Whether one line of the argument tests the claim against the source. `claim`: all that the writer said of it."""
    said = [found["said"] for line in argument if (found := _LINE.fullmatch(line)) is not None]
    own = _pieces(source) - _pieces(claim)
    if len(own) < _FEW:
        return any(len(_PIECE.findall(line)) >= _FEW or _UNSPACED.search(line) for line in said)
    return any(_pieces(line) & own for line in said)


def _pieces(text: str) -> frozenset[str]:
    """Figures, words that name something, and pairs of characters of scripts that are written without spaces."""
    found: set[str] = set()
    for piece in _PIECE.findall(fold_path(text)):
        if _UNSPACED.search(piece):
            found.update(piece[at : at + 2] for at in range(len(piece) - 1))
        elif piece[0].isdigit() or (len(piece) >= _LEAST_LETTERS and piece not in function_words(None)):
            found.add(piece)
    return frozenset(found)


FALSE_ORPHAN_COST = 4
FABRICATED_COST = 3
OTHER_COST = 1
"""Of any other wrong verdict, of an answer that cannot be read, and of a claim that was not tested."""
MATERIAL = 2
"""A dearer model has to avoid so many errors more: one of a dozen is chance."""
RULE = (
    f"The cheapest model is taken, unless a dearer one has at least {MATERIAL} false ORPHANs fewer, or at least"
    f" {MATERIAL} fabricated sources fewer, and no more of the other."
)

Sourcing = Literal["real", "fabricated", "unchecked", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemScore:
    """What one answer is worth."""

    id: str
    label: ReachVerdict
    said: ReachVerdict | Literal["unparsed"]
    right: bool
    """The label's verdict; an ORPHAN only where it is a finding, argued and sourced."""
    false_orphan: bool
    sources: Sourcing
    """`fabricated` where one page is not there, or is about something else; `unchecked` where nobody looked at one."""
    honest: bool | None
    """Whether the claim is tested against its source; None of an internal request."""
    cost: int
    """0 where nothing is wrong."""
    requests: int
    seconds: float

    @property
    def passed(self) -> bool:
        """Nothing is wrong with it."""
        return self.cost == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScore:
    """What a model's answers are worth."""

    model: AnsweringModel
    items: tuple[ItemScore, ...]
    """In the corpus' order; requests that it did not answer are left out."""

    @property
    def passed(self) -> int:
        """Answers with which nothing is wrong."""
        return sum(item.passed for item in self.items)

    @property
    def could_be_false(self) -> int:
        """Answers that could have been a false ORPHAN."""
        return sum(item.label != "orphan" for item in self.items)

    @property
    def false_orphans(self) -> int:
        """Answers that were one."""
        return sum(item.false_orphan for item in self.items)

    @property
    def fabricated(self) -> int:
        """Answers with a source that is none."""
        return sum(item.sources == "fabricated" for item in self.items)

    @property
    def unchecked(self) -> int:
        """Answers with a source that nobody has looked at."""
        return sum(item.sources == "unchecked" for item in self.items)

    @property
    def external(self) -> int:
        """Answers to external requests."""
        return sum(item.honest is not None for item in self.items)

    @property
    def honest(self) -> int:
        """Those of them that test the claim against its source."""
        return sum(item.honest is True for item in self.items)

    @property
    def cost(self) -> int:
        """Of all errors together."""
        return sum(item.cost for item in self.items)

    @property
    def requests_each(self) -> float:
        """Metered requests a reach, on average; 0 where there is none."""
        return sum(item.requests for item in self.items) / len(self.items) if self.items else 0.0

    @property
    def seconds_each(self) -> float:
        """Wall clock a reach, on average."""
        return sum(item.seconds for item in self.items) / len(self.items) if self.items else 0.0


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Which model the reach should ask."""

    model: str
    """`""` where nobody answered anything."""
    reason: str
    """One sentence."""


def score_item(item: ReachItem, answer: RecordedAnswer) -> ItemScore:
    """What the answer is worth, its text read as a reach reads it."""
    said = parse_answer(answer.text)
    verdict = said.verdict if isinstance(said, Answer) else "unparsed"
    false_orphan = verdict == "orphan" and item.label != "orphan"
    finding = verdict != "orphan" or (isinstance(said, Answer) and said.is_finding)
    right = verdict == item.label and finding
    sources = _sourcing(said, answer) if isinstance(said, Answer) else "none"
    honest = _honest(item.request, said, answer) if isinstance(item.request, ExternalRequest) else None
    cost = FABRICATED_COST * (sources == "fabricated") + OTHER_COST * (honest is False)
    cost += 0 if right else FALSE_ORPHAN_COST if false_orphan else OTHER_COST
    return ItemScore(
        id=item.id, label=item.label, said=verdict, right=right, false_orphan=false_orphan, sources=sources,
        honest=honest, cost=cost, requests=answer.requests, seconds=answer.seconds,
    )  # fmt: skip


def _sourcing(said: Answer, answer: RecordedAnswer) -> Sourcing:
    if not said.sources:
        return "none"
    found: set[Finding] = {answer.findings.get(source.url, "unknown") for source in said.sources}
    if found & {"fabricated", "irrelevant"}:
        return "fabricated"
    return "unchecked" if "unknown" in found else "real"


def _honest(request: ExternalRequest, said: object, answer: RecordedAnswer) -> bool:
    if answer.honest is not None:
        return answer.honest
    claim = f"{request.header}\n{request.struck}\n{request.resonance}"
    return isinstance(said, Answer) and is_tested(said.argument, request.source, claim)


def score_models(
    items: Sequence[ReachItem], models: Sequence[AnsweringModel], answers: Sequence[RecordedAnswer]
) -> tuple[ModelScore, ...]:
    """One score a model, the cheapest first; answers to requests that are not in the corpus count for nothing."""
    known = {(answer.model, answer.item): answer for answer in answers}
    scores = [
        ModelScore(
            model=model,
            items=tuple(
                score_item(item, known[model.name, item.id]) for item in items if (model.name, item.id) in known
            ),
        )
        for model in models
    ]
    return tuple(sorted(scores, key=lambda score: (score.model.rank, score.requests_each, score.model.name)))


def decide_model(scores: Sequence[ModelScore]) -> ModelChoice:
    """Whom `RULE` picks. Two models are compared on the requests that both have answered."""
    answered = [score for score in scores if score.items]
    if not answered:
        return ModelChoice("", "nobody has answered anything")
    winner, reason = answered[0], "it is the cheapest, and no dearer one is materially better"
    for dearer in answered[1:]:
        mine, theirs = _shared(winner, dearer), _shared(dearer, winner)
        orphans, fabricated = mine.false_orphans - theirs.false_orphans, mine.fabricated - theirs.fabricated
        if max(orphans, fabricated) >= MATERIAL and min(orphans, fabricated) >= 0:
            reason = (
                f"beside {winner.model.name} it has {orphans} false ORPHANs and {fabricated} fabricated sources fewer"
                f" in {len(mine.items)} requests"
            )
            winner = dearer
    if len(answered) == 1:
        reason = "nobody else has answered"
    return ModelChoice(winner.model.name, reason)


def _shared(score: ModelScore, other: ModelScore) -> ModelScore:
    both = {item.id for item in score.items} & {item.id for item in other.items}
    return ModelScore(model=score.model, items=tuple(item for item in score.items if item.id in both))
