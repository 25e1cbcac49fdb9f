"""`aria-dream resonances`: the undrawn links of a vault, best first; what a note could link to."""

from __future__ import annotations

import gc
from heapq import nlargest
from typing import TYPE_CHECKING

import click

from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.cache_store import ContentCache
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.index.resonance import VaultRanker, build_ranking
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.cli.output import echo_json, progress_bar
from aria_dream.cli.vault_argument import vault_argument
from aria_dream.errors import NotFoundError, PolicyClosedError
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.review.proposal import decided_pairs
from aria_dream.vault.resolve import NotOne, find_note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.ranking.juxtaposition import Juxtaposition

_TERMS_SHOWN = 3


@click.command("resonances")
@vault_argument
@click.option("--from", "origin", metavar="NOTE", help="Only what this note could link to: its path or its name.")
@click.option("--all", "everything", is_flag=True, help="Every note in turn, LIMIT for each.")
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True, help="At most so many.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def command(vault: Path, *, origin: str | None, everything: bool, limit: int, as_json: bool) -> None:
    """List the links nobody has drawn yet, best first.

    Without --from or --all: the best of the whole vault. No model is used, and nothing is written into the vault.
    """
    if origin is not None and everything:
        raise click.UsageError("--from names one note and --all means every note: take one of them.")
    places = find_places()
    with progress_bar("Reading notes") as progress:
        seen = read_dreamt_vault(vault, places, progress=progress)
    refuse_in_doubt(seen)
    gc.freeze()  # all of it stays: no collection need look at it again
    path = None if origin is None else chosen_note(seen, origin)
    decided = decided_pairs(RecordStore(seen.live.state_folder(places)).read().states.values())
    with ContentCache(places.vault_cache(seen.root)) as cache, progress_bar("Reading words") as progress:
        ranker = VaultRanker(seen, build_ranking(seen, cache, decided=decided, progress=progress))
    if path is not None:
        found: Iterable[Juxtaposition] = ranker.resonances(path, limit)
    elif everything:
        found = (pair for _, pairs in ranker.all(limit) for pair in pairs)
    else:
        found = _best(ranker, limit)
    if as_json:
        for pair in found:
            echo_json(_object(pair))
    else:
        _print(found, seen.name_of)


def refuse_in_doubt(vault: DreamtVault) -> None:
    """Raises PolicyClosedError where it is not known what the writer excludes: then nothing is listed."""
    if vault.in_doubt:
        raise PolicyClosedError(f"nothing is listed: {vault.in_doubt}")


def chosen_note(vault: DreamtVault, name: str) -> str:
    """Vault path of the note that `name` means.

    Raises:
        NotFoundError: there is none, there are several, or the policy keeps it out of every dream.
    """
    path = find_note(name, vault.index.graph.paths)
    if isinstance(path, NotOne):
        raise NotFoundError(str(path))
    if vault.row(path) is None:
        raise NotFoundError(
            f"“{title_of(path)}” is no part of any dream: it is excluded, one of our own notes, or not on this device"
        )
    return path


def _best(ranker: VaultRanker, limit: int) -> Iterator[Juxtaposition]:
    """The best pairs of the vault, each once, from the side that ranks it higher."""
    best: dict[tuple[str, str], Juxtaposition] = {}
    for _, pairs in ranker.all(limit):
        for pair in pairs:
            known = best.get(pair.pair)
            if known is None or pair.score > known.score:
                best[pair.pair] = pair
    yield from nlargest(limit, best.values(), key=lambda pair: (pair.score, pair.pair))


def _object(pair: Juxtaposition) -> dict[str, object]:
    return {
        "from": pair.from_,
        "to": pair.to,
        "score": pair.score,
        "path": None if pair.path is None else list(pair.path),
        "evidence": {term.name: round(term.value, 4) for term in pair.evidence},
        "details": {term.name: term.detail for term in pair.evidence if term.detail},
    }


def _print(found: Iterable[Juxtaposition], name_of: Callable[[str], str]) -> None:
    empty = True
    for pair in found:
        empty = False
        way = "only the text connects them" if pair.path is None else " → ".join(map(name_of, pair.path))
        told = [
            f"{term.name}: {term.detail}" if term.detail else term.name
            for term in pair.evidence
            if term.value > 0
        ][:_TERMS_SHOWN]
        click.echo(f"{pair.score:.3f}  {name_of(pair.from_)} ↔ {name_of(pair.to)}")
        click.echo(f"       {way}")
        if told:
            click.echo(f"       {'; '.join(told)}")
    if empty:
        click.echo("Nothing resonates yet that is not linked already.")
