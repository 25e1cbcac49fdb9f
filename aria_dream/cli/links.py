"""`aria-dream links`: what the vault's links are, counted and listed; or the links of one note."""

from __future__ import annotations

import gc
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.index import read_vault
from aria_dream.cli.output import counted, echo_json, echo_list, progress_bar
from aria_dream.cli.vault_argument import vault_argument
from aria_dream.vault.linkage import isolated_rows

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from aria_dream.adapters.index.index import ResolvedLink, VaultIndex
    from aria_dream.adapters.index.mentions import SingleNote


@click.command("links")
@vault_argument
@click.option("--note", metavar="NOTE", help="Show the links of one note: its path, its path without .md, or its name.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--all", "everything", is_flag=True, help="Do not cut long lists.")
def command(vault: Path, *, note: str | None, as_json: bool, everything: bool) -> None:
    """Count a vault's links; show unresolved, ambiguous and isolated ones.

    Nothing is written into the vault.
    """
    if note is not None:
        from aria_dream.adapters.index.mentions import read_single_note

        single = read_single_note(vault, note)
        if as_json:
            echo_json(_note_object(single))
        else:
            _print_note(single)
        return
    with progress_bar("Reading notes") as progress:
        index = read_vault(vault, find_places().cache, progress=progress)
    gc.freeze()  # what was loaded stays until the process ends; no collection need walk it again
    if as_json:
        echo_json(links_object(index))
    else:
        _print_links(index, everything=everything)


def links_object(index: VaultIndex) -> dict[str, object]:
    """The JSON object of `links --json`; its keys are listed in docs/FORMATS.md."""
    unresolved = list(index.unresolved())
    by_target = _by_target(unresolved)
    return {
        "vault": str(index.root),
        **asdict(index.counts),
        "unresolved_pairs": len({(link.source, link.path.lower()) for link in unresolved}),
        "unresolved_targets": len(by_target),
        **asdict(index.name_counts),
        "unresolved": [
            {
                "target": links[0].path,
                "occurrences": len(links),
                "sources": [{"path": link.source, "line": link.line} for link in links],
            }
            for links in by_target.values()
        ],
        "ambiguous": [
            {"path": link.source, "line": link.line, "link": link.path, "target": link.target}
            for link in index.ambiguous()
        ],
        "isolated": [index.graph.paths[row] for row in isolated_rows(index.graph)],
        "not_on_this_device": sorted(index.not_here),
        "sync_conflicts": sorted(index.conflicts),
        "problems": [asdict(problem) for problem in index.problems],
    }


def _by_target(unresolved: Iterable[ResolvedLink]) -> dict[str, list[ResolvedLink]]:
    """Unresolved occurrences by lower-cased link path, the most wanted first."""
    found: dict[str, list[ResolvedLink]] = {}
    for link in unresolved:
        found.setdefault(link.path.lower(), []).append(link)
    return dict(sorted(found.items(), key=lambda item: (-len(item[1]), item[0])))


def _print_links(index: VaultIndex, *, everything: bool) -> None:
    counts = index.counts
    other = [
        counted(number, one, many)
        for number, one, many in (
            (counts.attachments, "attachment", "attachments"),
            (counts.canvas, "canvas", "canvases"),
            (counts.base, "base", "bases"),
        )
        if number
    ]
    click.echo(f"{index.root.name}: " + ", ".join([counted(counts.notes, "note"), *other]))
    click.echo(
        f"{counted(counts.link_occurrences, 'link')}: {counts.resolved_occurrences:,} lead to a file, "
        f"{counts.unresolved_occurrences:,} to nothing yet"
    )
    click.echo(
        f"{counted(counts.note_to_note_pairs, 'connection')} between notes; "
        f"{counted(counts.isolated_notes, 'note')} with no link to or from another"
    )
    echo_list(
        "Most wanted: linked, not written yet",
        (
            f"{links[0].path}  ({counted(len(links), 'link')}, first in {_place(links[0])})"
            for links in _by_target(index.unresolved()).values()
        ),
        everything=everything,
    )
    meant = Counter((link.path, link.target) for link in index.ambiguous())
    echo_list(
        "Could mean several files; Obsidian's rules choose",
        (f"{path} → {target}  ({counted(times, 'link')})" for (path, target), times in meant.most_common()),
        everything=everything,
    )
    if everything:
        echo_list(
            "No link to or from another note",
            (index.graph.paths[row] for row in isolated_rows(index.graph)),
            everything=True,
        )
    echo_list("Not on this device", sorted(index.not_here), everything=everything)
    echo_list("Copies left by a sync", sorted(index.conflicts), everything=everything)
    echo_list("Problems", map(str, index.problems), everything=everything)


def _place(link: ResolvedLink) -> str:
    return f"{link.source}:{link.line}" if link.line else link.source


def _note_object(single: SingleNote) -> dict[str, object]:
    return {
        "links": [
            {
                "raw": link.raw,
                "target": target,
                "display": link.display,
                "subpath": link.subpath,
                "embed": link.embed,
                "in_frontmatter": link.in_frontmatter,
            }
            for link, target in single.links
        ],
        "tags": list(single.tags),
        "aliases": list(single.aliases),
    }


def _print_note(single: SingleNote) -> None:
    click.echo(f"{single.path}: {counted(len(single.links), 'link')}")
    for link, target in single.links:
        click.echo(f"  {link.raw} → {target or 'nothing yet'}")
    for title, names in (("Tags", single.tags), ("Aliases", single.aliases)):
        if names:
            click.echo(f"{title}: {', '.join(names)}")
    echo_list("Problems", map(str, single.problems), everything=True)
