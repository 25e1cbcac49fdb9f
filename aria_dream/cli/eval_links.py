"""`aria-dream eval links`: would the dream have found the links that are there, or those drawn since a day?"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aria_dream.adapters.disk.places import Places, find_places
from aria_dream.adapters.index.cache_store import ContentCache
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.cli.output import counted, echo_json, progress_bar
from aria_dream.cli.resonances import refuse_in_doubt
from aria_dream.cli.vault_argument import vault_argument
from aria_dream.evals.link_recovery import HITS
from aria_dream.usecases.eval_links import OURS, evaluate_links, hidden_links, links_since, read_vault_of

if TYPE_CHECKING:
    from datetime import date, datetime

    from aria_dream.evals.link_recovery import Recovery
    from aria_dream.usecases.eval_links import LinkEvaluation


@click.command("links")
@vault_argument
@click.option(
    "--fraction",
    type=click.FloatRange(0, 0.9, min_open=True),
    default=0.2,
    show_default=True,
    help="Share of the linked pairs to hide and look for.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Chooses which pairs are hidden.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="Look for links drawn since, by git.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(vault: Path, *, fraction: float, seed: int, since: datetime | None, as_json: bool) -> None:
    """Measure how well the dream would have found links that were really drawn.

    A share of the vault's own links is hidden and looked for; with --since, those drawn since that day in a vault that
    is kept in git. Four plain rankings are measured beside it. Nothing is written into the vault.
    """
    places = find_places()
    if since is None:
        found = _hide(vault, places, fraction, seed)
        what = f"{fraction:.0%} of the linked pairs were hidden (seed {seed})"
    else:
        found = _look_back(vault, places, since.date())
        what = f"the pairs linked since {since.date().isoformat()} were looked for"
    if as_json:
        echo_json(_object(found))
        return
    click.echo(f"{counted(found.notes, 'note')}, {counted(found.links, 'linked pair')}; {what}: {found.hidden:,}.")
    if not found.hidden:
        click.echo("There is nothing to look for.")
        return
    _print(found)


def _hide(vault: Path, places: Places, fraction: float, seed: int) -> LinkEvaluation:
    with progress_bar("Reading notes") as progress:
        seen = read_dreamt_vault(vault, places, progress=progress)
    refuse_in_doubt(seen)
    hidden = hidden_links(seen, fraction, seed)
    with (
        ContentCache(places.vault_cache(seen.root)) as cache,
        progress_bar("Reading words") as reading,
        progress_bar("Ranking every note five times") as ranking,
    ):
        return evaluate_links(seen, cache, hidden, reading=reading, progress=ranking)


def _look_back(vault: Path, places: Places, day: date) -> LinkEvaluation:
    with progress_bar("Reading notes") as progress:
        now = read_dreamt_vault(vault, places, progress=progress)
    refuse_in_doubt(now)
    with tempfile.TemporaryDirectory(prefix="aria-dream-then-") as scratch:
        folder = Path(scratch)
        read_vault_of(now.root, day, folder)
        apart = Places(state=folder / "state", cache=folder / "cache")
        then = read_dreamt_vault(folder / "vault", apart)
        with (
            ContentCache(apart.vault_cache(then.root)) as cache,
            progress_bar("Reading words") as reading,
            progress_bar("Ranking every note five times") as ranking,
        ):
            return evaluate_links(then, cache, links_since(then, now), reading=reading, progress=ranking)


def _object(found: LinkEvaluation) -> dict[str, object]:
    return {
        "notes": found.notes,
        "links": found.links,
        "hidden": found.hidden,
        "rankings": {name: _figures(one) for name, one in found.recoveries.items()},
    }


def _figures(one: Recovery) -> dict[str, object]:
    return {
        "asked": one.asked,
        "MRR": round(one.mrr, 4),
        **{f"H@{hit}": round(share, 4) for hit, share in zip(HITS, one.hits, strict=True)},
        "P@100": round(one.precision, 4),
        "by_distance": [
            {"distance": distance, "asked": asked, "MRR": round(mrr, 4)} for distance, asked, mrr in one.by_distance
        ],
    }


def _print(found: LinkEvaluation) -> None:
    names = ["MRR", *(f"H@{hit}" for hit in HITS), "P@100"]
    click.echo(f"\n{'':<24}{''.join(f'{name:>8}' for name in names)}")
    for ranking, one in found.recoveries.items():
        values = (one.mrr, *one.hits, one.precision)
        click.echo(f"{ranking:<24}{''.join(f'{value:8.3f}' for value in values)}")
    ours = found.recoveries[OURS]
    click.echo(f"\n{OURS} by distance of the two notes:")
    for distance, asked, mrr in ours.by_distance:
        where = "unconnected" if distance is None else f"{distance} links"
        click.echo(f"  {where:<22}{mrr:8.3f}  of {asked:,}")
    click.echo(
        "\nMRR: mean of 1/rank, so 0.5 is second place on average; H@10: share found among the ten best;"
        "\nP@100: share of hidden pairs among the hundred best of the whole vault."
    )
