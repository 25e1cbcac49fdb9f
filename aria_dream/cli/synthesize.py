"""`aria-dream synthesize`: what a memory's sources teach, admitted by rules, appended to its log and its lessons."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.adapters.models.embedding import load_embedder
from aria_dream.adapters.state.memory_folder import NoMemory
from aria_dream.cli.output import echo_json
from aria_dream.cli.vault_argument import vault_argument
from aria_dream.errors import AriaDreamError, NotFoundError, VaultUnreadableError
from aria_dream.policy.settings import local_now
from aria_dream.synthesis.contract import render_verdict
from aria_dream.synthesis.lesson import lesson_record
from aria_dream.synthesis.operator_evidence import STATUSES
from aria_dream.usecases.synthesis import SynthesisRequest, run_status_change, run_synthesis, synthesis_lock
from aria_dream.vault.edit import Refusal

if TYPE_CHECKING:
    from aria_dream.adapters.index.live_policy import LivePolicy
    from aria_dream.usecases.synthesis import SynthesisResult


@click.command("synthesize")
@vault_argument
@click.option("--window", type=click.Choice(["nightly"]), help="Say in the entry that this was the nightly run.")
@click.option(
    "--evidence",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="JSON lines of what local commands or git really did; the only source of exit codes.",
)
@click.option(
    "--set-status",
    "decision",
    type=(str, click.Choice(STATUSES)),
    metavar="ID STATUS",
    default=None,
    help=f"Record the operator's decision about a candidate: {', '.join(STATUSES)}.",
)
@click.option("--operator-evidence", metavar="TEXT", help="Where the operator said so; needed with --set-status.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    vault: Path,
    *,
    window: str | None,
    evidence: Path | None,
    decision: tuple[str, str] | None,
    operator_evidence: str | None,
    as_json: bool,
) -> None:
    """Learn from a vault's working memory: append a dated entry and the lessons that the rules admit.

    Only in a vault that keeps a memory folder (vault/memory, else memory). Nothing is ever applied, and no candidate is
    ever decided but by --set-status with the operator's own evidence.
    """
    if (decision is None) is not (operator_evidence is None):
        raise click.UsageError("nothing was written: --set-status and --operator-evidence go together.")
    if decision is not None and (window or evidence):
        raise click.UsageError("nothing was written: --set-status stands alone, without --window and --evidence.")
    if not vault.is_dir():
        raise VaultUnreadableError(f"there is no vault at {vault}")
    places = find_places()
    live = read_live_policy(vault.resolve(), places)
    state = live.state_folder(places)
    files, lock = DiskVault(vault, state), synthesis_lock(state)
    at = local_now(datetime.now().astimezone(), live.policy.settings.timezone)
    if decision is not None:
        assert operator_evidence is not None
        candidate, status = decision
        decided = run_status_change(files, lock, live.policy, at, candidate, status, operator_evidence)
        if isinstance(decided, NoMemory):
            raise NotFoundError(decided.reason)
        if isinstance(decided, Refusal):
            raise click.UsageError(f"nothing was written: {decided.reason}.")
        if not decided.verdict.passed:
            raise _turned_back(render_verdict(decided.verdict))
        if as_json:
            echo_json({"candidate": candidate, "was": decided.was, "status": status})
        else:
            click.echo(f"DREAM STATUS {candidate} {decided.was} -> {status}")
        return
    if refusal := live.policy.dream_refusal():
        _say_nothing(f"Nothing was written: {refusal}.", as_json=as_json)
        return
    request = SynthesisRequest(
        at=at,
        occasion=window or "explicit",
        evidence=_evidence(evidence),
        evidence_name=evidence.name if evidence else "",
    )
    result = run_synthesis(files, lock, live.policy, request, load_embedder().encode)
    if isinstance(result, NoMemory):
        _say_nothing(result.reason, as_json=as_json)
        return
    _tell(result, live, as_json=as_json)


def _evidence(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return path.read_bytes().decode("utf-8-sig", "replace")
    except OSError as error:
        raise click.UsageError(f"nothing was written: {path} cannot be read ({error.strerror}).") from error


def _say_nothing(sentence: str, *, as_json: bool) -> None:
    if as_json:
        echo_json(_object(None, sentence))
    else:
        click.echo(sentence)


def _turned_back(line: str) -> AriaDreamError:
    return AriaDreamError(f"{line}\nThe contract failed; the state before this run is restored.")


def _object(result: SynthesisResult | None, reason: str) -> dict[str, object]:
    """The JSON object of `synthesize --json`; its keys are listed in docs/FORMATS.md."""
    made = None if result is None else result.synthesis
    return {
        "written": result is not None and result.verdict.passed,
        "reason": reason,
        "restored": result is not None and result.restored,
        "folder": None if result is None else result.folder,
        "date": None if made is None else made.date,
        "sources": 0 if made is None else made.sources,
        "lessons": [] if made is None else [lesson_record(one) for one in made.lessons],
        "candidates": [] if made is None else [{"id": one.id, "name": one.name} for one in made.candidates],
        "failures": [] if result is None else list(result.verdict.failures),
        "said": [] if result is None else list(result.said),
    }


def _tell(result: SynthesisResult, live: LivePolicy, *, as_json: bool) -> None:
    made = result.synthesis
    if as_json:
        echo_json(_object(result, ""))
    if not result.verdict.passed:
        raise _turned_back(render_verdict(result.verdict))
    if as_json:
        return
    for problem in live.problems:
        click.echo(f"To mend: {problem}", err=True)
    for sentence in result.said:
        click.echo(sentence, err=True)
    for lesson in made.lessons:
        click.echo(f"{lesson.lesson_id} ({lesson.type}, {lesson.confidence:.2f}): {lesson.lesson}")
    for candidate in made.candidates:
        click.echo(f"{candidate.id} (proposed): {candidate.name}")
    click.echo(
        f"DREAM PASS date={made.date} sources={made.sources} lessons={len(made.lessons)}"
        f" candidates={len(made.candidates)}"
    )
