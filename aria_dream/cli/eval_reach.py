"""`aria-dream eval reach`: labelled requests, the answers of models to them, and which model the reach should ask."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aria_dream.adapters.disk.places import find_places, shipped_path
from aria_dream.cli.output import counted, echo_json, progress_bar
from aria_dream.errors import NotFoundError, PolicyClosedError
from aria_dream.evals.reach_corpus import AnsweringModel, parse_reach_answers, parse_reach_corpus
from aria_dream.evals.reach_score import RULE, decide_model, score_models
from aria_dream.evals.triage_score import render_bar
from aria_dream.usecases.eval_reach import look_at_sources, save_answers
from aria_dream.usecases.eval_sources import SourceCheck

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.evals.reach_corpus import ReachItem, RecordedAnswer
    from aria_dream.evals.reach_score import ModelChoice, ModelScore

LIVE_RANK = 9
"""Of a model that was asked live: the corpus does not know what it costs, so it has to be better than the others."""


@click.command("reach")
@click.option(
    "--corpus", type=click.Path(path_type=Path), help="Another file of labelled requests (examples/README.md)."
)
@click.option("--answers", type=click.Path(path_type=Path), help="Another file of recorded answers.")
@click.option("--resolve", is_flag=True, help="Look whether the cited pages are there; sends no text.")
@click.option("--live", is_flag=True, help="Ask the policy's model what it has not answered, within the budget.")
@click.option("--vault", "named", type=click.Path(path_type=Path), help="With --live: take model and budget from it.")
@click.option("--save", type=click.Path(path_type=Path), help="Keep all answers, and what their sources are, here.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    *,
    corpus: Path | None,
    answers: Path | None,
    resolve: bool,
    live: bool,
    named: Path | None,
    save: Path | None,
    as_json: bool,
) -> None:
    """Score answers to labelled reach requests, and say which model the reach should ask.

    Without --live and --resolve it scores recorded answers and touches no network. A false ORPHAN weighs most, and a
    fabricated source fails an answer whatever its verdict.
    """
    if live and save is None:
        raise click.UsageError("--live costs requests of your plan; name a file that keeps the answers: --save FILE.")
    if live and answers is None and save is not None and save.exists():
        answers = save  # go on from there
    items, models, recorded = _read(corpus, answers)
    said: list[str] = []
    if live and save is not None:
        recorded = (*recorded, *_asked(items, models, recorded, named, said, save))
    if resolve:
        recorded = _resolved(items, recorded, said)
    if save is not None:
        save_answers(save, models, recorded)
        said.append(f"All answers are in {save}; --answers reads them again")
    scores = score_models(items, tuple(models.values()), recorded)
    decision = decide_model(scores)
    said += [
        f"{score.model.name} passes {score.passed} of {len(score.items)}, less than half: read its answers before you"
        " take it"
        for score in scores
        if score.model.name == decision.model and 2 * score.passed < len(score.items)
    ]
    if as_json:
        echo_json(_object(items, scores, decision, said))
    else:
        _print(items, scores, decision, said)


def _read(
    corpus: Path | None, answers: Path | None
) -> tuple[tuple[ReachItem, ...], dict[str, AnsweringModel], tuple[RecordedAnswer, ...]]:
    file = corpus or shipped_path("examples", "reach-corpus.jsonl")
    items, problems = parse_reach_corpus(_text(file), file.name)
    recorded_in = answers or shipped_path("examples", "reach-answers.jsonl")
    models, recorded, faults = parse_reach_answers(_text(recorded_in), recorded_in.name)
    if problems or faults:
        raise click.UsageError(str((*problems, *faults)[0]))
    if not items:
        raise click.UsageError(f"{file} holds no requests.")
    return items, {model.name: model for model in models}, recorded


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise NotFoundError(f"{file} cannot be read as UTF-8 text") from error


def _asked(
    items: Sequence[ReachItem],
    models: dict[str, AnsweringModel],
    recorded: Sequence[RecordedAnswer],
    vault: Path | None,
    said: list[str],
    save: Path,
) -> Sequence[RecordedAnswer]:
    from aria_dream.cli.eval_reach_live import ask_live

    def keep(found: Sequence[RecordedAnswer]) -> None:
        save_answers(save, models, (*recorded, *found))  # each is paid for

    return ask_live(items, models, recorded, vault, said, rank=LIVE_RANK, keep=keep)


def _resolved(
    items: Sequence[ReachItem], recorded: tuple[RecordedAnswer, ...], said: list[str]
) -> tuple[RecordedAnswer, ...]:
    check = SourceCheck(state=find_places().state, now=lambda: datetime.now().astimezone())
    if refusal := check.refusal():
        raise PolicyClosedError(f"no page was looked at: {refusal}")
    with progress_bar("Looking at sources") as progress:
        looked, reached = look_at_sources(items, recorded, check, progress=progress)
    if not reached:
        said.append("No server answered, so the network is away; what was recorded of the sources counts")
    return looked


def _object(
    items: Sequence[ReachItem], scores: Sequence[ModelScore], decision: ModelChoice, said: Sequence[str]
) -> dict[str, object]:
    return {
        "requests": len(items),
        "models": [_model_object(score) for score in scores],
        "rule": RULE,
        "choice": decision.model or None,
        "why": decision.reason,
        "said": list(said),
    }


def _model_object(score: ModelScore) -> dict[str, object]:
    return {
        "model": score.model.name,
        "made": score.model.made,
        "rank": score.model.rank,
        "answered": len(score.items),
        "passed": score.passed,
        "false_orphans": score.false_orphans,
        "could_be_false": score.could_be_false,
        "fabricated": score.fabricated,
        "unchecked": score.unchecked,
        "honest": score.honest,
        "external": score.external,
        "cost": score.cost,
        "requests_each": round(score.requests_each, 2),
        "seconds_each": round(score.seconds_each, 1),
        "items": [{**asdict(item), "passed": item.passed} for item in score.items],
    }


_MADE = {"recorded": "recorded answers", "written": "answers written by hand, as an example"}


def _print(
    items: Sequence[ReachItem], scores: Sequence[ModelScore], decision: ModelChoice, said: Sequence[str]
) -> None:
    click.echo(f"{counted(len(items), 'labelled request')}: how well does a model that reaches out keep its head?")
    for score in scores:
        _print_model(score)
    click.echo(f"\n{RULE}")
    click.echo(f"Choice: {decision.model or 'none'}, because {decision.reason}.")
    for sentence in said:
        click.echo(f"{sentence}.")


def _print_model(score: ModelScore) -> None:
    click.echo(f"\n{score.model.name} ({_MADE[score.model.made]}), {counted(len(score.items), 'request')} answered")
    if not score.items:
        return
    for name, count, of in (
        ("passed", score.passed, len(score.items)),
        ("false ORPHAN", score.false_orphans, score.could_be_false),
        ("fabricated source", score.fabricated, len(score.items)),
        ("tested the claim", score.honest, score.external),
    ):
        click.echo(f"  {name:18} {render_bar(count / of if of else 0.0)} {count:3} of {of}")
    click.echo(f"  errors weigh {score.cost} in all; {score.requests_each:.1f} requests and"
               f" {score.seconds_each:.0f} s a reach")  # fmt: skip
    click.echo("\n  request    label    said      sources     tested  requests    s  weighs")
    for item in score.items:
        tested = "" if item.honest is None else "yes" if item.honest else "no"
        click.echo(
            f"  {item.id:10} {item.label:8} {item.said:9} {item.sources:11} {tested:7} {item.requests:8}"
            f" {item.seconds:4.0f}  {item.cost or ''}".rstrip()
        )
