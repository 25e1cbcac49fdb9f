"""The rubric of the reach: what weighs most, what fails whatever else is right, and which model is taken."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from aria_dream.evals.reach_corpus import (
    BUCKETS,
    AnsweringModel,
    CorpusText,
    ExternalRequest,
    Finding,
    InternalRequest,
    ReachItem,
    RecordedAnswer,
    answer_record,
    model_record,
    parse_reach_answers,
    parse_reach_corpus,
)
from aria_dream.evals.reach_score import (
    FABRICATED_COST,
    FALSE_ORPHAN_COST,
    OTHER_COST,
    ItemScore,
    ModelScore,
    decide_model,
    score_item,
    score_models,
)

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
URL = "https://example.org/a"
INTERNAL = ReachItem(
    id="i", label="homes", about=("tide",),
    request=InternalRequest(first=CorpusText("A", "a"), second=CorpusText("B", "b"), way="", reason="r"),
)  # fmt: skip
EXTERNAL = ReachItem(
    id="e", label="orphan", about=(),
    request=ExternalRequest(
        header="Beans climb to the left", source="Garden diary, 1911: on 17 of 20 poles the beans wind leftwards.",
        struck="All of them?", resonance="[[Poles]]",
    ),
)  # fmt: skip
HOMES = f"HOMES\nEdge: follows the moon\nA known relation.\nSources:\n- {URL}\n"
TESTED = "the diary counts 17 of 20 poles, in one garden."
ORPHAN = f"ORPHAN\nA claim.\nTested: {TESTED}\nNothing is near.\nSources:\n- {URL}\n"


def answer(text: str, found: Finding = "real", *, honest: bool | None = None, item: str = "i") -> RecordedAnswer:
    return RecordedAnswer(
        item=item, model="m", text=text, requests=2, seconds=30.0, findings={URL: found}, honest=honest
    )


def test_a_right_sourced_answer_weighs_nothing() -> None:
    score = score_item(INTERNAL, answer(HOMES))
    assert (score.right, score.sources, score.honest, score.cost, score.passed) == (True, "real", None, 0, True)


@pytest.mark.parametrize("found", ["fabricated", "irrelevant"])
def test_a_fabricated_source_fails_whatever_the_verdict(found: Finding) -> None:
    score = score_item(INTERNAL, answer(HOMES, found))
    assert (score.right, score.sources, score.cost, score.passed) == (True, "fabricated", FABRICATED_COST, False)
    assert score_item(INTERNAL, answer(ORPHAN, found)).cost == FABRICATED_COST + FALSE_ORPHAN_COST


def test_a_false_orphan_weighs_most_of_all_single_errors() -> None:
    false = score_item(INTERNAL, answer(ORPHAN))
    missed = score_item(EXTERNAL, answer(HOMES, honest=True))
    unread = score_item(INTERNAL, answer("It is new, I think."))
    assert (false.false_orphan, false.cost) == (True, FALSE_ORPHAN_COST)
    assert (missed.cost, missed.false_orphan, unread.cost, unread.said) == (OTHER_COST, False, OTHER_COST, "unparsed")
    assert FALSE_ORPHAN_COST > FABRICATED_COST > OTHER_COST


def test_an_orphan_without_a_source_is_no_finding() -> None:
    bare = "ORPHAN\nA claim.\nTested: 17 of 20, in one garden.\nSources:\n"
    score = score_item(EXTERNAL, answer(bare))
    assert (score.said, score.right, score.sources, score.cost) == ("orphan", False, "none", OTHER_COST)


def test_a_claim_has_to_be_tested_against_its_source() -> None:
    assert score_item(EXTERNAL, answer(ORPHAN)).honest is True
    stamped = ORPHAN.replace(TESTED, "beans climb to the left, how striking!")
    score = score_item(EXTERNAL, answer(stamped))
    assert (score.right, score.honest, score.cost) == (True, False, OTHER_COST)
    assert score_item(EXTERNAL, answer(stamped, honest=True)).honest is True
    assert score_item(EXTERNAL, answer(ORPHAN, honest=False)).honest is False
    assert score_item(EXTERNAL, answer("prose")).honest is False


def test_what_nobody_looked_at_counts_for_nothing_and_is_said() -> None:
    score = score_item(INTERNAL, replace(answer(HOMES), findings={}))
    assert (score.sources, score.cost) == ("unchecked", 0)
    assert score_item(INTERNAL, answer(HOMES + "- A book without an address\n")).sources == "unchecked"


def scored(name: str, rank: int, *errors: tuple[str, ...]) -> ModelScore:
    """A model with one item for each tuple of its errors."""
    items = tuple(
        ItemScore(
            id=f"i{number}", label="neither", said="neither", right=True, false_orphan="orphan" in each,
            sources="fabricated" if "source" in each else "real", honest=None, cost=len(each), requests=rank,
            seconds=1.0,
        )
        for number, each in enumerate(errors)
    )  # fmt: skip
    return ModelScore(model=AnsweringModel(name=name, rank=rank, made="recorded"), items=items)


ORPHAN_ERROR, SOURCE_ERROR, NONE = ("orphan",), ("source",), ()


@pytest.mark.parametrize(
    ("cheap", "dear", "expected"),
    [
        ((NONE, NONE, NONE), (NONE, NONE, NONE), "cheap"),
        ((ORPHAN_ERROR, NONE, NONE), (NONE, NONE, NONE), "cheap"),
        ((ORPHAN_ERROR, ORPHAN_ERROR, NONE), (NONE, NONE, NONE), "dear"),
        ((SOURCE_ERROR, SOURCE_ERROR, NONE), (NONE, NONE, NONE), "dear"),
        ((ORPHAN_ERROR, ORPHAN_ERROR, NONE), (NONE, NONE, SOURCE_ERROR), "cheap"),
        ((ORPHAN_ERROR, ORPHAN_ERROR, SOURCE_ERROR), (NONE, NONE, SOURCE_ERROR), "dear"),
        ((NONE, NONE, NONE), (ORPHAN_ERROR, ORPHAN_ERROR, NONE), "cheap"),
        ((ORPHAN_ERROR, ORPHAN_ERROR, NONE), (), "cheap"),
        ((NONE, ORPHAN_ERROR, ORPHAN_ERROR), (NONE,), "cheap"),
    ],
)
def test_the_cheaper_one_is_taken_unless_the_dearer_is_materially_better(
    cheap: tuple[tuple[str, ...], ...], dear: tuple[tuple[str, ...], ...], expected: str
) -> None:
    decision = decide_model([scored("cheap", 1, *cheap), scored("dear", 2, *dear)])
    assert decision.model == expected
    assert decision.reason


def test_nobody_is_taken_where_nobody_answered() -> None:
    assert decide_model([scored("a", 1)]).model == ""
    assert decide_model([]).model == ""


def test_the_shipped_corpus_has_its_buckets() -> None:
    items, problems = parse_reach_corpus((EXAMPLES / "reach-corpus.jsonl").read_text("utf-8"))
    assert problems == ()
    assert [sum(item.label == bucket for item in items) for bucket in BUCKETS] == [4, 4, 4]
    assert {(item.label, item.is_external) for item in items} == {
        (bucket, flag) for bucket in BUCKETS for flag in (True, False)
    }
    for item in items:
        assert item.about


def test_the_shipped_answers_show_every_kind_of_error() -> None:
    items, _ = parse_reach_corpus((EXAMPLES / "reach-corpus.jsonl").read_text("utf-8"))
    models, answers, problems = parse_reach_answers((EXAMPLES / "reach-answers.jsonl").read_text("utf-8"))
    assert problems == ()
    lean, careful = score_models(items, models, answers)
    assert {item.id for item in items} == {item.id for item in lean.items} == {item.id for item in careful.items}
    assert {model.made for model in models} == {"written"}
    assert lean.false_orphans >= 2 > careful.false_orphans
    assert lean.fabricated >= 2 > careful.fabricated
    assert any(item.right and item.sources == "fabricated" for item in lean.items)
    assert any(item.right and item.honest is False for item in lean.items)
    assert any(item.said == "unparsed" for item in lean.items)
    assert decide_model((lean, careful)).model == "written-careful"


def test_answers_are_read_back_as_they_were_written() -> None:
    model = AnsweringModel(name="m", rank=3, made="recorded", about="x")
    made = [answer(HOMES), replace(answer(ORPHAN, "unknown", honest=False), item="e")]
    text = "".join(json.dumps(record) + "\n" for record in [model_record(model), *map(answer_record, made)])
    assert parse_reach_answers(text) == ((model,), tuple(made), ())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"type":"answer","model":"m","item":"i","text":"x","requests":1,"seconds":1}', "answered 'i' before"),
        ('{"type":"answer","model":"n","item":"i","text":"x","requests":1,"seconds":1}', "who 'n' is"),
        ('{"type":"answer","model":"m","item":"j","text":"x","requests":true,"seconds":1}', "neither a model nor"),
        ('{"type":"answer","model":"m","item":"j","text":"x","requests":1,"seconds":1,"findings":{"u":"fine"}}',
         "neither a model nor"),
        ('{"type":"answer","model":"m","item":"j","text":"x","requests":1,"seconds":1,"honest":"yes"}', "neither"),
        ('{"type":"model","name":"x","rank":1,"made":"guessed"}', "neither a model nor"),
        ('{"type":"song"}', "neither a model nor"),
        ("[]", "not a record"),
    ],
)  # fmt: skip
def test_a_line_that_is_no_answer_is_reported(line: str, message: str) -> None:
    model = AnsweringModel(name="m", rank=3, made="recorded")
    text = "".join(json.dumps(record) + "\n" for record in [model_record(model), answer_record(answer(HOMES))])
    _, answers, problems = parse_reach_answers(f"{text}{line}\n")
    assert len(answers) == 1
    assert [problem.line for problem in problems] == [3]
    assert message in problems[0].message


@pytest.mark.parametrize("change", [{"label": "maybe"}, {"kind": "other"}, {"about": "x"}, {"from": 2}])
def test_a_line_that_is_no_request_is_reported(change: dict[str, object]) -> None:
    line = json.loads((EXAMPLES / "reach-corpus.jsonl").read_text("utf-8").splitlines()[0])
    items, problems = parse_reach_corpus("\n".join(map(json.dumps, ({**line, **change}, line, line))) + "\n")
    assert len(items) == 1
    assert [problem.line for problem in problems] == [1, 3]
