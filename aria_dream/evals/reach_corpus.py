"""A labelled corpus of reach requests, and recorded answers to them: JSON lines, read and written."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from aria_dream.errors import Problem
from aria_dream.notes.jsonl import as_mapping, as_number, as_text, as_texts, as_whole, parse_records

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aria_dream.reach.reach import ReachVerdict

T = TypeVar("T", bound=str)

Finding = Literal["real", "irrelevant", "fabricated", "unknown"]
"""What became of an address that was looked at: the page is there and about the matter; is there and is not; is not
there; nobody could tell."""
Made = Literal["recorded", "written"]
"""An answer that a model gave, or one that was written by hand as an example and that no model ever gave."""
BUCKETS: tuple[ReachVerdict, ...] = ("homes", "orphan", "neither")
FINDINGS: tuple[Finding, ...] = get_args(Finding)
MADE: tuple[Made, ...] = get_args(Made)
_NO_FINDINGS: Mapping[str, Finding] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CorpusText:
    """A title and a text."""

    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalRequest:
    """Two notes that resonate."""

    first: CorpusText
    second: CorpusText
    way: str
    """Titles between them, or that there is no way."""
    reason: str
    """Why a local judge would have kept them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalRequest:
    """A seed with its source."""

    header: str
    source: str
    struck: str
    resonance: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachItem:
    """A request and what a person decided about it."""

    id: str
    label: ReachVerdict
    request: InternalRequest | ExternalRequest
    about: tuple[str, ...]
    """A page that bears on this holds at least one of these, in any case; empty: any page counts."""

    @property
    def is_external(self) -> bool:
        """Whether there is a source to be tested against."""
        return isinstance(self.request, ExternalRequest)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweringModel:
    """Whoever answered."""

    name: str
    rank: int
    """Of its cost, the cheapest first."""
    made: Made
    about: str = ""
    """Where the answers come from, in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAnswer:
    """One answer, as it came."""

    item: str
    model: str
    text: str
    """The model's last message, whole."""
    requests: int
    seconds: float
    findings: Mapping[str, Finding] = field(default_factory=lambda: _NO_FINDINGS)
    """Address, as `citation.normal_url` gives it, to what became of it when somebody looked."""
    honest: bool | None = None
    """What a person says of its honesty about the source; None: `source_tested.is_tested` decides."""


def parse_reach_corpus(text: str, path: str = "") -> tuple[tuple[ReachItem, ...], tuple[Problem, ...]]:
    """The items of a JSONL file in order, and a problem for each line that is none."""
    records, problems = parse_records(text)
    items: dict[str, ReachItem] = {}
    faults = [Problem(path, problem.line, problem.message) for problem in problems]
    for line, record in records:
        try:
            item = _item(record)
        except (KeyError, TypeError, ValueError):
            faults.append(Problem(path, line, "this line is no labelled request"))
            continue
        if item.id in items:
            faults.append(Problem(path, line, f"there is another request {item.id!r}"))
        items.setdefault(item.id, item)
    return tuple(items.values()), tuple(faults)


def _item(record: Mapping[str, object]) -> ReachItem:
    label = _one_of(BUCKETS, record["label"])
    kind = as_text(record["kind"])
    if kind not in ("internal", "external"):
        raise ValueError("kind")
    request: InternalRequest | ExternalRequest
    if kind == "internal":
        request = InternalRequest(
            first=_text(record["from"]), second=_text(record["to"]),
            way=as_text(record["path"]), reason=as_text(record["reason"]),
        )  # fmt: skip
    else:
        request = ExternalRequest(
            header=as_text(record["header"]), source=as_text(record["source"]),
            struck=as_text(record["struck"]), resonance=as_text(record["resonance"]),
        )  # fmt: skip
    return ReachItem(id=as_text(record["id"]), label=label, request=request, about=as_texts(record["about"]))


def _one_of(options: tuple[T, ...], value: object) -> T:
    """The option that `value` is. Raises ValueError."""
    for option in options:
        if option == value:
            return option
    raise ValueError("none of the options")


def _text(value: object) -> CorpusText:
    found = as_mapping(value)
    return CorpusText(as_text(found["title"]), as_text(found["text"]))


def parse_reach_answers(
    text: str, path: str = ""
) -> tuple[tuple[AnsweringModel, ...], tuple[RecordedAnswer, ...], tuple[Problem, ...]]:
    """Models and answers of a JSONL file in order, and a problem for each line that is neither.

    A model has its line before its answers, and one answer to a request.
    """
    records, problems = parse_records(text)
    models: dict[str, AnsweringModel] = {}
    answers: dict[tuple[str, str], RecordedAnswer] = {}
    faults = [Problem(path, problem.line, problem.message) for problem in problems]
    for line, record in records:
        try:
            if record["type"] == "model":
                model = _model(record)
                models[model.name] = model
                continue
            answer = _answer(record)
        except (KeyError, TypeError, ValueError):
            faults.append(Problem(path, line, "this line is neither a model nor an answer"))
            continue
        if answer.model not in models:
            faults.append(Problem(path, line, f"nothing says before this line who {answer.model!r} is"))
        elif (answer.model, answer.item) in answers:
            faults.append(Problem(path, line, f"{answer.model!r} has answered {answer.item!r} before"))
        else:
            answers[answer.model, answer.item] = answer
    return tuple(models.values()), tuple(answers.values()), tuple(faults)


def _model(record: Mapping[str, object]) -> AnsweringModel:
    return AnsweringModel(
        name=as_text(record["name"]), rank=as_whole(record["rank"]), made=_one_of(MADE, record["made"]),
        about=as_text(record.get("about", "")),
    )  # fmt: skip


def _answer(record: Mapping[str, object]) -> RecordedAnswer:
    findings = as_mapping(record.get("findings", {}))
    known = {url: _one_of(FINDINGS, said) for url, said in findings.items()}
    honest = record.get("honest")
    if record["type"] != "answer" or not isinstance(honest, bool | None):
        raise ValueError("answer")
    return RecordedAnswer(
        item=as_text(record["item"]), model=as_text(record["model"]), text=as_text(record["text"]),
        requests=as_whole(record["requests"]), seconds=as_number(record["seconds"]), findings=known, honest=honest,
    )  # fmt: skip


def model_record(model: AnsweringModel) -> dict[str, object]:
    """The model's line."""
    return {"type": "model", "name": model.name, "rank": model.rank, "made": model.made, "about": model.about}


def answer_record(answer: RecordedAnswer) -> dict[str, object]:
    """The answer's line."""
    record: dict[str, object] = {
        "type": "answer", "model": answer.model, "item": answer.item, "text": answer.text,
        "requests": answer.requests, "seconds": answer.seconds, "findings": dict(answer.findings),
    }  # fmt: skip
    return record if answer.honest is None else {**record, "honest": answer.honest}
