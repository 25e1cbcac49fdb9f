"""`aria-dream graph`: the vault's graph as a file for Gephi, yEd, Graphviz and others."""

from __future__ import annotations

from pathlib import Path

import click

from aria_dream.cli.output import counted, progress_bar
from aria_dream.cli.vault_argument import vault_argument
from aria_dream.errors import WriteRefusedError


@click.command("graph")
@vault_argument
@click.option(
    "--out", "place", metavar="FILE", type=click.Path(path_type=Path), required=True,
    help="Where to write it; the ending says how: .graphml, .gexf, .json or .dot.",
)  # fmt: skip
def command(vault: Path, *, place: Path) -> None:
    """Write the graph of notes and links to a file for Gephi and other programs.

    Notes that you exclude are not in it. Nothing is written into the vault.
    """
    from aria_dream.usecases.link_graph import FORMATS, read_graph, write_graph

    form = next((form for form in FORMATS if place.suffix.lower() == f".{form}"), None)
    if form is None:
        endings = ", ".join(f".{form}" for form in FORMATS)
        raise click.UsageError(f"The ending of {place.name!r} says no format: take one of {endings}.")
    if place.resolve().is_relative_to(vault.resolve()):
        raise WriteRefusedError(f"{place} lies in the vault; name a place outside it")
    with progress_bar("Reading notes") as progress:
        graph = read_graph(vault, progress=progress)
    try:
        write_graph(graph, place, form)
    except OSError as error:
        raise WriteRefusedError(f"{place} cannot be written: {error.strerror or error}") from error
    links = counted(graph.number_of_edges(), "link")
    click.echo(f"{counted(len(graph), 'note')} and {links} between them are in {place}.")
