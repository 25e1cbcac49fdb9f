"""`aria-dream seeds`: what the writer has left for the dreamer; `add` leaves one more."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.disk.writing import write_or_refuse
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.cli.output import echo_json
from aria_dream.cli.resonances import chosen_note
from aria_dream.cli.vault_argument import chosen_vault
from aria_dream.errors import NotFoundError, Problem, WriteRefusedError
from aria_dream.markdown.note import NotePath
from aria_dream.notes.review_note import render_managed, render_review_head
from aria_dream.notes.seeds import new_seed, parse_seeds, render_seed, render_seeds_head
from aria_dream.policy.file_layout import elsewhere_seeds
from aria_dream.policy.settings import local_now
from aria_dream.vault.edit import ABSENT, ChangeSet, Refusal, WritePlan, decode_note, encode_note, plan_append
from aria_dream.vault.link_form import link_target
from aria_dream.world import Content

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.notes.seeds import Seed, SeedKind


@click.command("seeds")
@click.argument("words", nargs=-1, metavar="[VAULT] [add TITLE]")
@click.option("--note", "notes", multiple=True, metavar="NOTE", help="add: a note the seed is about; may be repeated.")
@click.option("--struck", default="", metavar="TEXT", help="add: why it struck you.")
@click.option("--resonance", default="", metavar="TEXT", help="add: what it seems to touch, such as two [[notes]].")
@click.option("--source", default="", metavar="URL", help="add: a source from outside; makes it a seed for the reach.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    words: tuple[str, ...], *, notes: tuple[str, ...], struck: str, resonance: str, source: str, as_json: bool
) -> None:
    """List the seeds you left for the dreamer, or add one.

    `add TITLE --note NOTE` makes the next dream start at that note; `add TITLE --source URL` is for the reach. It is
    appended to the seeds note; nothing else is written.
    """
    vault, title = _split(words)
    places = find_places()
    seen = read_dreamt_vault(vault, places)
    disk = DiskVault(seen.root, seen.live.state_folder(places))
    content = disk.read(NotePath(seen.home.seeds))
    text = decode_note(content.data) if isinstance(content, Content) else ""
    if title is not None:
        links = [_link(seen, note) for note in notes]
        kind: SeedKind = "external-novelty" if source else "internal"
        touches = " ".join(part for part in (resonance, ", ".join(links)) if part)
        today = local_now(datetime.now().astimezone(), seen.live.policy.settings.timezone).date()
        made = new_seed(kind, title, today, source=source, struck=struck, resonance=touches)
        if isinstance(made, Problem):
            raise click.UsageError(f"nothing was written: {made.message}.")
        if kind == "internal" and not made.links:
            raise click.UsageError("nothing was written: an internal seed names at least one note; add --note NOTE.")
        _add(disk, seen, made, content)
        if as_json:
            echo_json({"note": seen.home.seeds, "added": _object(made)})
        else:
            click.echo(f"Added to {seen.home.seeds}: {made.title}")
        return
    seeds, problems = parse_seeds(text)
    if as_json:
        faults = [{"path": seen.home.seeds, "line": one.line, "message": one.message} for one in problems]
        echo_json({"note": seen.home.seeds, "seeds": [_object(seed) for seed in seeds], "problems": faults})
        return
    if not seeds:
        click.echo("There are no seeds yet. Leave one with: aria-dream seeds add TITLE --note NOTE")
        for sentence in elsewhere_seeds(seen.home):
            click.echo(sentence)
    for seed in seeds:
        day = "" if seed.deposited_on is None else f"{seed.deposited_on.isoformat()}  "
        click.echo(f"{seed.status:7}{day}{seed.title} ({seed.kind})")
    for problem in problems:
        click.echo(f"To mend: {seen.home.seeds}:{problem.line}: {problem.message}")


def _split(words: Sequence[str]) -> tuple[Path, str | None]:
    """The vault, and the title of the seed to add."""
    for at in (0, 1):
        if len(words) > at and words[at] == "add" and not (at == 0 and len(words) > 1 and words[1] == "add"):
            title = " ".join(words[at + 1 :])
            if not title.strip():
                raise click.UsageError("add needs a title: aria-dream seeds VAULT add TITLE --note NOTE")
            return chosen_vault(words[0] if at else None), title
    if len(words) > 1:
        raise click.UsageError(f"“{words[1]}” is not understood here; only `add TITLE` may follow the vault.")
    return chosen_vault(words[0] if words else None), None


def _link(vault: DreamtVault, name: str) -> str:
    path = chosen_note(vault, name)
    target = link_target(vault.index.resolver, vault.index.app, path, vault.home.seeds)
    if not target:
        raise NotFoundError(f"no link can name {path}; choose another note")
    return f"[[{target}]]"


def _add(disk: DiskVault, vault: DreamtVault, seed: Seed, content: object) -> None:
    path = NotePath(vault.home.seeds)
    before = content.data if isinstance(content, Content) else None
    plan = plan_append(path, before, render_seed(seed), head=render_seeds_head())
    if isinstance(plan, Refusal):
        raise WriteRefusedError(f"the seed was not written: {path}: {plan.reason}")
    writes = [plan]
    if not vault.home.exists:  # the review note's marker is what makes the folder ours
        text = encode_note(render_review_head() + render_managed(()) + "\n")
        writes.append(WritePlan(path=NotePath(vault.home.review), expected_hash=ABSENT, content=text))
    write_or_refuse(disk, ChangeSet(writes=tuple(writes)), label="seed", otherwise="the seed was not written")


def _object(seed: Seed) -> dict[str, object]:
    return {
        "title": seed.title,
        "kind": seed.kind,
        "status": seed.status,
        "deposited_on": None if seed.deposited_on is None else seed.deposited_on.isoformat(),
        "source": seed.source,
        "struck": seed.struck,
        "resonance": seed.resonance,
        "links": list(seed.links),
        "line": seed.line,
    }
