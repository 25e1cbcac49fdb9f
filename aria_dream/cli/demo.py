"""`aria-dream demo`: a night over a copy of the example vault, and the dream note that it leaves."""

from __future__ import annotations

import shutil
import tempfile
from datetime import datetime
from pathlib import Path

import click

from aria_dream.adapters.disk.places import Places, shipped_path
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.cli.dream import dream_object
from aria_dream.cli.output import echo_json, progress_bar
from aria_dream.usecases.dream import DreamRequest
from aria_dream.usecases.dream_run import run_dream

DEMO_SEEDS = (14, 28)
"""Two dreams, so that the note shows that blocks are appended; these seeds give the same night on every machine."""
DEMO_HOURS = ((3, 12), (4, 40))


@click.command("demo")
@click.option("--keep", type=click.Path(path_type=Path), metavar="FOLDER", help="Keep the vault that was dreamt here.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(keep: Path | None, *, as_json: bool) -> None:
    """Dream over a copy of the example vault and print the morning note.

    Needs no vault, no server, no key and no network, and touches nothing of yours.
    """
    if keep is not None and keep.exists():
        raise click.UsageError(f"{keep} exists already; name a folder that does not.")
    with tempfile.TemporaryDirectory(prefix="aria-dream-demo-") as scratch:
        folder = Path(scratch)
        vault = folder / "Garden" if keep is None else keep
        _copy(shipped_path("examples", "vault"), vault)
        places = Places(state=folder / "state", cache=folder / "cache")
        click.echo("Dreaming over a copy of the example vault; the first night reads every note.", err=True)
        dreams = []
        for seed, (hour, minute) in zip(DEMO_SEEDS, DEMO_HOURS, strict=True):
            now = datetime.now().astimezone()
            dreams.append(_night(vault, places, now.replace(hour=hour, minute=minute, second=0, microsecond=0), seed))
        note = str(dreams[-1]["note"])
        text = (vault / note).read_text(encoding="utf-8")
        if as_json:
            kept = None if keep is None else str(keep)
            echo_json({"vault": kept, "note": note, "text": text, "dreams": dreams})
            return
        click.echo(f"--- {note} ---\n")
        click.echo(text, nl=False)
        click.echo("\n---\nTick what is true: `aria-dream apply`, or the daemon, places the link.")
        click.echo("Your own vault: aria-dream dream VAULT")
        if keep is not None:
            click.echo(f"The vault is kept in {keep}; open it in Obsidian.")


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target)


def _night(vault: Path, places: Places, at: datetime, seed: int) -> dict[str, object]:
    """What `aria-dream dream --json` says of one dream at `at`."""
    seen = read_dreamt_vault(vault, places, environ={})
    store = RecordStore(seen.live.state_folder(places))
    request = DreamRequest(at=at, seed=seed, kind="idle dream")
    result, missing = run_dream(seen, places, store, request, show=progress_bar)
    return dream_object(result, request, missing)
