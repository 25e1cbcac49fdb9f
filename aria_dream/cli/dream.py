"""`aria-dream dream`: one dream, now; what it found is appended to the day's dream note."""

from __future__ import annotations

import gc
import secrets
import socket
from datetime import datetime
from typing import TYPE_CHECKING

import click

from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.cli.output import counted, echo_json, progress_bar
from aria_dream.cli.resonances import chosen_note
from aria_dream.cli.vault_argument import vault_argument
from aria_dream.errors import NotFoundError
from aria_dream.notes.dream_log import logged_drop, render_block
from aria_dream.notes.episode import find_episode
from aria_dream.policy.settings import local_now
from aria_dream.usecases.dream import DreamRequest
from aria_dream.usecases.dream_run import SEEDS, run_dream

if TYPE_CHECKING:
    from pathlib import Path

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.notes.dream_log import LoggedDrop
    from aria_dream.notes.episode import EpisodeRecord
    from aria_dream.ranking.juxtaposition import Dropped, Survivor
    from aria_dream.usecases.dream import DreamResult

@click.command("dream")
@vault_argument
@click.option("--start", metavar="NOTE", help="Start from this note: its path or its name.")
@click.option("--seed", type=int, metavar="N", help="Seed of the walk; the same seed dreams the same dream.")
@click.option("--count", type=click.IntRange(1, 20), metavar="N", help="Show at most N pairs.")
@click.option("--dry-run", is_flag=True, help="Show the dream and write nothing.")
@click.option("--replay", metavar="ID", help="Dream a logged dream again (its id, or its date and time).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    vault: Path,
    *,
    start: str | None,
    seed: int | None,
    count: int | None,
    dry_run: bool,
    replay: str | None,
    as_json: bool,
) -> None:
    """Dream once, now, and append what was found to the day's dream note.

    A dream that finds nothing writes nothing. None of your own notes is changed.
    """
    if replay is not None and (start is not None or seed is not None or count is not None):
        raise click.UsageError("--replay takes start, seed and count from the log; leave them out.")
    places = find_places()
    with progress_bar("Reading notes") as progress:
        seen = read_dreamt_vault(vault, places, progress=progress)
    gc.freeze()  # all of it stays: no collection need look at it again
    store = RecordStore(seen.live.state_folder(places))
    again = None if replay is None else _logged(store, replay)
    request = DreamRequest(
        at=local_now(datetime.now().astimezone(), seen.live.policy.settings.timezone),
        seed=again.seed if again is not None else secrets.randbelow(SEEDS) if seed is None else seed,
        start=None if start is None else chosen_note(seen, start),
        count=count,
        dry_run=dry_run,
        replay=again,
        host=socket.gethostname(),
    )
    result, missing = run_dream(seen, places, store, request, show=progress_bar)
    if as_json:
        echo_json(dream_object(result, request, missing))
    else:
        _say(seen, result, request, missing)


def _logged(store: RecordStore, name: str) -> EpisodeRecord:
    found = find_episode(store.read().episodes, name)
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFoundError(f"no dream {name!r} is logged on this machine; ids look like 20261130-031207-4711")
    raise NotFoundError(f"{name!r} could be any of {len(found)} dreams: {', '.join(one.id for one in found[:5])}")


def dream_object(result: DreamResult, request: DreamRequest, missing: tuple[str, ...]) -> dict[str, object]:
    """The JSON object of `dream --json`; its keys are listed in docs/FORMATS.md."""
    dreamt = result.dreamt
    return {
        "id": None if result.record is None else result.record.id,
        "note": result.note or None,
        "written": result.written,
        "reason": result.reason,
        "seed": request.seed,
        "start": None if dreamt is None else dreamt.start.path,
        "rule": None if dreamt is None else dreamt.start.rule,
        "judge": None if dreamt is None else dreamt.judge,
        "pairs": [] if dreamt is None or result.block is None else [
            {**_pair(survivor), "id": shown.id, "place": shown.place, "goes_to": shown.goes}
            for survivor, shown in zip(dreamt.kept, result.block.pairs, strict=True)
        ],
        "dropped": [_pair(drop) for drop in result.dropped],
        "said": [*result.said, *missing],
    }  # fmt: skip


def _pair(found: Survivor | Dropped) -> dict[str, object]:
    pair = found.juxtaposition
    return {
        "from": pair.from_,
        "to": pair.to,
        "score": pair.score,
        "path": None if pair.path is None else list(pair.path),
        "passages": None if pair.resonance is None else list(pair.resonance.quotes),
        "probability": found.probability,
        "reason": found.reason,
        "evidence": {term.name: round(term.value, 4) for term in pair.evidence},
    }


def _dropped_line(drop: LoggedDrop) -> str:
    unreadable = "unreadable: " if drop.unreadable else ""
    return f"{drop.from_title} ↔ {drop.to_title} ({drop.score:.3f}): {unreadable}{drop.reason}"


def _say(vault: DreamtVault, result: DreamResult, request: DreamRequest, missing: tuple[str, ...]) -> None:
    for problem in vault.problems:
        click.echo(f"To mend: {problem}", err=True)
    for sentence in (*result.said, *missing):
        click.echo(sentence, err=True)
    if result.block is None or result.dreamt is None:
        click.echo(f"{result.reason[:1].upper()}{result.reason[1:]}.")
        for drop in result.dropped:
            click.echo(f"  {_dropped_line(logged_drop(drop, name_of=vault.name_of))}")
        return
    click.echo(render_block(result.block), nl=False)
    click.echo()
    if result.written:
        found = counted(len(result.dreamt.kept), "pair")
        told = f"{found} to think about" if result.dreamt.kept else "no pair survived, and the seed is dreamt"
        click.echo(f"Written to {result.note}: {told}. Nothing else was changed.")
        if not vault.live.policy.path:
            click.echo("This vault has no policy note yet; `aria-dream init` writes one you can edit.")
    elif request.replay is not None:
        click.echo("This was a dream of the log, dreamt again. Nothing was written.")
    else:
        click.echo(f"A rehearsal: nothing was written. It would go to {result.note}.")
