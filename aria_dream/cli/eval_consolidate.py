"""`aria-dream eval consolidate`: labelled pairs of notes before the built-in judge, and what it leaves to others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aria_dream.adapters.disk.places import shipped_path
from aria_dream.cli.output import counted, echo_json, progress_bar
from aria_dream.errors import NotFoundError
from aria_dream.evals.triage_score import DECISIONS, against_label, by_kind, curve, parse_pairs
from aria_dream.judging.judge import JUDGE_NAME

if TYPE_CHECKING:
    from aria_dream.evals.triage_score import LabelledNotes, MeasuredPair

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


@click.command("consolidate")
@click.option(
    "--corpus", type=click.Path(path_type=Path), help="Another file of labelled pairs (examples/README.md)."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, corpus: Path | None, as_json: bool) -> None:
    """Put labelled pairs of notes before the built-in judge: are they one?

    It decides only what is certain and leaves the rest to a person or a language model. No vault of yours is read.
    """
    from aria_dream.adapters.models.embedding import load_embedder
    from aria_dream.usecases.eval_duplicates import measure_pairs

    pairs = _read_pairs(corpus)
    with progress_bar(f"Judging {counted(len(pairs), 'pair')}") as progress:
        measured = measure_pairs(pairs, load_embedder(), progress=progress)
    if as_json:
        echo_json(_object(measured))
    else:
        _print(measured)


def _read_pairs(path: Path | None) -> tuple[LabelledNotes, ...]:
    file = path or shipped_path("examples", "consolidate-corpus", "pairs.jsonl")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise NotFoundError(f"{file} cannot be read as UTF-8 text") from error
    pairs, problems = parse_pairs(text, file.name)
    if problems:
        raise click.UsageError(str(problems[0]))
    if not pairs:
        raise click.UsageError(f"{file} holds no pairs.")
    return pairs


def _decided(measured: tuple[MeasuredPair, ...]) -> int:
    return sum(one.decision in ("merge", "not_duplicate") for one in measured)


def _object(measured: tuple[MeasuredPair, ...]) -> dict[str, object]:
    signals = {"cosine": lambda one: one.cosine, "overlap": lambda one: one.overlap}
    return {
        "judge": JUDGE_NAME,
        "pairs": len(measured),
        "duplicates": sum(one.pair.is_duplicate for one in measured),
        "decided": _decided(measured),
        "wrong": [one.pair.id for one in against_label(measured)],
        "kinds": [
            {
                "kind": kind.kind,
                "label": kind.label,
                **dict(zip(DECISIONS, kind.decisions, strict=True)),
                "coming": kind.coming,
            }
            for kind in by_kind(measured)
        ],
        "curves": {
            name: [
                {"threshold": least, "precision": round(precision, 4), "recall": round(recall, 4)}
                for least, precision, recall in curve(measured, signal, THRESHOLDS)
            ]
            for name, signal in signals.items()
        },
        "verdicts": {
            one.pair.id: {
                "decision": one.decision,
                "reason": one.reason,
                "cosine": round(one.cosine, 4),
                "overlap": round(one.overlap, 4),
                "comes": one.comes,
            }
            for one in measured
        },
    }


def _print(measured: tuple[MeasuredPair, ...]) -> None:
    wrong = against_label(measured)
    decided, escalated = _decided(measured), sum(one.decision == "escalated" for one in measured)
    click.echo(
        f"{JUDGE_NAME}: of {counted(len(measured), 'labelled pair')} it decides {decided} and leaves {escalated} to "
        f"others; {counted(len(wrong), 'decision')} against the label."
    )
    for one in wrong:
        click.echo(f"  {one.pair.id}: {one.decision}, {one.reason}")
    duplicates = [one for one in measured if one.pair.is_duplicate]
    coming = sum(one.comes for one in duplicates)
    click.echo(f"Of {counted(len(duplicates), 'pair')} labelled the same, {coming} would come before it in a vault.")
    click.echo(f"\n  {'':28}{'merge':>7}{'apart':>7}{'left':>7}{'none':>7}{'come':>7}")
    for kind in by_kind(measured):
        figures = "".join(f"{number:7}" for number in (*kind.decisions, kind.coming))
        click.echo(f"  {kind.label:10} {kind.kind:17}{figures}")
