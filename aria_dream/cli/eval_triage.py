"""`aria-dream eval triage`: labelled pairs before a judge, and what it gets wrong."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING

import click

from aria_dream.adapters.disk.places import find_places, shipped_path
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.cli.output import counted, echo_json, progress_bar
from aria_dream.errors import MissingPartError, NotFoundError
from aria_dream.evals.triage_score import parse_corpus, render_bar, score_triage
from aria_dream.judging.dreaming import NoJudge
from aria_dream.policy.keys import JUDGE_BACKENDS
from aria_dream.policy.policy import parse_policy
from aria_dream.usecases.eval_triage import run_triage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.evals.triage_score import LabelledPair, TriageScore
    from aria_dream.policy.settings import Settings
    from aria_dream.usecases.eval_triage import TriageRun

RUNS = 2


@click.command("triage")
@click.option(
    "--backend",
    type=click.Choice(JUDGE_BACKENDS),
    help="The judge; without it the one that the policy names.",
)
@click.option(
    "--vault", "named", type=click.Path(path_type=Path), help="Take the judge's settings from this vault's policy."
)
@click.option(
    "--corpus", type=click.Path(path_type=Path), help="Another file of labelled pairs (examples/README.md)."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, backend: str | None, named: Path | None, corpus: Path | None, as_json: bool) -> None:
    """Put labelled pairs before a judge and count what it gets wrong.

    The pairs are laid out as the notes of a temporary vault and judged as in a dream, twice. No vault of yours is read
    or changed; a judge on another machine needs the same permissions as in a dream.
    """
    places = find_places()
    pairs = _read_corpus(corpus)
    settings = _settings(named)
    runs: list[TriageRun] = []
    for number in range(1, RUNS + 1):
        with progress_bar(f"Judging {len(pairs)} pairs, run {number} of {RUNS}") as progress:
            run = run_triage(pairs, settings, places.state, backend=backend, progress=progress)
        if isinstance(run, NoJudge):
            raise MissingPartError(run.reason)
        if not run.pairs:
            raise click.UsageError("None of the pairs can be judged: their notes link each other, or are hidden.")
        runs.append(run)
    first, second = runs
    score = score_triage(first.pairs, first.verdicts, second.verdicts)
    if as_json:
        echo_json(_object(first, score, left_out=len(pairs) - len(first.pairs)))
    else:
        _print(first, score, left_out=len(pairs) - len(first.pairs))


def _read_corpus(path: Path | None) -> tuple[LabelledPair, ...]:
    file = path or shipped_path("examples", "triage-corpus.jsonl")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise NotFoundError(f"{file} cannot be read as UTF-8 text") from error
    pairs, problems = parse_corpus(text, file.name)
    if problems:
        raise click.UsageError(str(problems[0]))
    if not pairs:
        raise click.UsageError(f"{file} holds no pairs.")
    return pairs


def _settings(named: Path | None) -> Settings:
    if named is not None:
        return read_live_policy(named.expanduser().absolute(), find_places()).policy.settings
    return parse_policy(None, env=os.environ)[0].settings


def _object(run: TriageRun, score: TriageScore, *, left_out: int) -> dict[str, object]:
    middle, slow = _latency(run.seconds)
    return {
        "judge": run.judge,
        **asdict(score),
        "linked_pairs_left_out": left_out,
        "median_ms": round(1000 * middle, 2),
        "p90_ms": round(1000 * slow, 2),
        "said": list(run.said),
        "verdicts": {
            pair.id: type(verdict).__name__.lower() for pair, verdict in zip(run.pairs, run.verdicts, strict=True)
        },
    }


def _latency(seconds: Sequence[float]) -> tuple[float, float]:
    """Median and ninth decile, in seconds."""
    if len(seconds) < 2:
        return (seconds[0], seconds[0]) if seconds else (0.0, 0.0)
    tenths = quantiles(seconds, n=10, method="inclusive")
    return tenths[4], tenths[8]


def _print(run: TriageRun, score: TriageScore, *, left_out: int) -> None:
    for sentence in run.said:
        click.echo(sentence, err=True)
    middle, slow = _latency(run.seconds)
    click.echo(f"{run.judge}: {counted(score.pairs, 'labelled pair')}, judged twice")
    if left_out:
        click.echo(f"  ({counted(left_out, 'pair')} left out: linked already, or hidden by their own properties)")
    click.echo()
    for name, share in (
        ("accuracy", score.accuracy),
        ("bridge against noise", score.bridge_against_noise),
        ("false keep", score.false_keep),
        ("false drop", score.false_drop),
        ("same verdict twice", score.agreement),
    ):
        click.echo(f"  {name:22} {render_bar(share)} {share:6.1%}")
    click.echo("\n  right, by kind")
    for kind in score.kinds:
        click.echo(f"  {kind.kind:22} {render_bar(kind.right / kind.of)} {kind.right:3} of {kind.of}")
    click.echo(f"\n  a verdict took {1000 * middle:.1f} ms (one in ten more than {1000 * slow:.1f} ms)")
    if score.unreadable:
        click.echo(f"  {counted(score.unreadable, 'answer')} could not be read and counted as a drop")
