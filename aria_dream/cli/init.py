"""`aria-dream init`: the notes that a dreaming vault needs, beside what the writer has and never over it."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from aria_dream.adapters.disk.config_folder import NAME, has_config_folder, snippet_path, write_snippet
from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.places import find_places, read_shipped
from aria_dream.adapters.disk.writing import write_or_refuse
from aria_dream.adapters.index.index import read_vault
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.adapters.index.vault_names import read_vault_names
from aria_dream.adapters.state.memory_folder import new_memory_folder
from aria_dream.cli.output import echo_json, progress_bar
from aria_dream.cli.vault_argument import vault_argument
from aria_dream.errors import PolicyClosedError, WriteRefusedError
from aria_dream.markdown.note import NotePath
from aria_dream.policy.init_plan import Furniture, MovingIn, plan_init, with_setting
from aria_dream.policy.policy import POLICY_NAMES
from aria_dream.synthesis.memory import LOG_NAME, plan_memory
from aria_dream.vault.edit import (
    ChangeSet,
    Refusal,
    WritePlan,
    content_hash,
    decode_note,
    encode_note,
    plan_create,
)
from aria_dream.world import Content

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from aria_dream.adapters.index.live_policy import LivePolicy
    from aria_dream.policy.file_layout import VaultNames

NIGHTS = "Dream nights.base"
_ID_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


@click.command("init")
@vault_argument
@click.option(
    "--policy",
    "wanted",
    type=click.Choice(POLICY_NAMES, case_sensitive=False),
    default=POLICY_NAMES[0],
    show_default=True,
    help="Name of the policy note, where there is none yet.",
)
@click.option("--memory", is_flag=True, help="Make a memory folder too, for `aria-dream synthesize`.")
@click.option("--snippet", is_flag=True, help="Add a list of the nights, and a CSS snippet for Obsidian to offer.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(vault: Path, *, wanted: str, memory: bool, snippet: bool, dry_run: bool, as_json: bool) -> None:
    """Prepare a vault for dreaming: policy, triggers, and the folder for dreams.

    Nothing that is there is changed or taken over, so it can be run again at any time.
    """
    places = find_places()
    with progress_bar("Reading notes") as progress:
        index = read_vault(vault, places.cache, progress=progress)
    live = read_live_policy(index.root, places)
    _refuse_if_in_doubt(live)
    vault_id = live.policy.vault_id or _new_vault_id()
    folder = live.policy.settings.dream_folder
    names = read_vault_names(index, folder)
    plan = plan_init(names, _furniture(), policy=live.policy, wanted=wanted, vault_id=vault_id)
    if memory:
        plan = _with_memory(plan, index.root, live, names)
    if snippet:
        plan = _with_nights(plan, names)
    id_in_force = live.vault_id if live.policy.path or not plan.policy else vault_id
    if not dry_run and (plan.creates or plan.policy_folder):
        disk = DiskVault(index.root, places.state / id_in_force)
        _write(disk, plan, index.files)
        live = read_live_policy(index.root, places)  # remembers that there is a policy now
    refused: WriteRefusedError | None = None
    if snippet:
        try:
            said = _snippet(index.root, index.obsidian.config_folder, dry_run=dry_run)
            plan = replace(plan, said=(*plan.said, said))
        except WriteRefusedError as error:  # what else was written is told first
            refused = error
    if as_json:
        echo_json(_object(index.root, plan, live, dry_run=dry_run))
    else:
        _say(plan, live, dry_run=dry_run)
    if refused is not None:
        raise refused


def _with_memory(plan: MovingIn, root: Path, live: LivePolicy, names: VaultNames) -> MovingIn:
    folders = [path for path in names.folded.values() if path not in names.files]
    made = plan_memory(new_memory_folder(root, live.policy, folders), names.files, names.linked)
    return replace(
        plan,
        creates=(*plan.creates, *made.creates),
        kept=(*plan.kept, *made.kept),
        said=(*plan.said, *made.said),
    )


def _with_nights(plan: MovingIn, names: VaultNames) -> MovingIn:
    """The `.base` that lists the nights, where its name is free and no link looks it up."""
    path = f"{plan.home.folder}/{NIGHTS}"
    if names.spelled(path) in names.folded.values():
        return replace(plan, kept=(*plan.kept, names.spelled(path)))
    if names.linked(NIGHTS):
        return replace(plan, said=(*plan.said, f"“{NIGHTS}” was not made, because links of yours look up that name."))
    return replace(plan, creates=(*plan.creates, (path, read_shipped("vault_template", "dreams", NIGHTS))))


def _snippet(root: Path, config_folder: str, *, dry_run: bool) -> str:
    """Writes the snippet; what became of it, as a sentence.

    Raises:
        WriteRefusedError: it was not written.
    """
    path = snippet_path(config_folder or ".obsidian")
    if not has_config_folder(root, config_folder):
        waits = "The CSS snippet waits, because Obsidian has not opened this vault yet."
        return f"{waits} Open it there once, then run `aria-dream init --snippet` again."
    if dry_run:
        return f"{path} would be written, if there is none."
    if write_snippet(root, config_folder, read_shipped("vault_template", "snippets", NAME)):
        return f"Written: {path}. Switch it on in Obsidian under Settings, Appearance, CSS snippets."
    return f"Left as it is: {path}."


def _refuse_if_in_doubt(live: LivePolicy) -> None:
    """A policy that is there and cannot be read is mended by its writer, not replaced by another one."""
    if live.in_doubt:
        raise PolicyClosedError(f"nothing was written, because the policy has to be mended first. {live.problems[0]}")


def _furniture() -> Furniture:
    return Furniture(
        policy=read_shipped("dreaming.md"),
        triggers=read_shipped("triggers.md"),
        review=read_shipped("vault_template", "dreams", "Dream review.md"),
        seeds=read_shipped("vault_template", "dreams", "Dream seeds.md"),
    )


def _new_vault_id() -> str:
    return "".join(secrets.choice(_ID_LETTERS) for _ in range(16))


def _write(disk: DiskVault, plan: MovingIn, files: Iterable[str]) -> None:
    existing = [NotePath(path) for path in files]
    writes: list[WritePlan] = []
    for path, text in plan.creates:
        made = plan_create(NotePath(path), text, existing)
        if not isinstance(made, WritePlan):
            reason = made.reason if isinstance(made, Refusal) else f"“{made.path}” is in the way"
            raise WriteRefusedError(f"nothing was written: {path} cannot be made, because {reason}")
        writes.append(made)
    if plan.policy_folder:
        writes.append(_policy_edit(disk, plan))
    write_or_refuse(disk, ChangeSet(writes=tuple(writes)), label="init")


def _policy_edit(disk: DiskVault, plan: MovingIn) -> WritePlan:
    path = NotePath(plan.policy)
    found = disk.read(path)
    if not isinstance(found, Content):
        raise WriteRefusedError(f"nothing was written: {path} cannot be read any more")
    text = with_setting(decode_note(found.data), "dream_folder", plan.policy_folder)
    return WritePlan(path=path, expected_hash=content_hash(found.data), content=encode_note(text))


def _object(root: Path, plan: MovingIn, live: LivePolicy, *, dry_run: bool) -> dict[str, object]:
    return {
        "vault": str(root),
        "dry_run": dry_run,
        "policy": plan.policy,
        "triggers": plan.triggers,
        "dream_folder": plan.home.folder,
        "created": [path for path, _ in plan.creates],
        "changed": [plan.policy] if plan.policy_folder else [],
        "kept": list(plan.kept),
        "said": list(plan.said),
        "problems": [{"path": p.path, "line": p.line, "message": p.message} for p in live.problems],
    }


def _say(plan: MovingIn, live: LivePolicy, *, dry_run: bool) -> None:
    purposes = {
        plan.policy: "what a dream may do; the defaults are careful, change them in your own time",
        plan.triggers: "what wakes the dreamer",
        plan.home.review: "everything that waits for your tick, in one list",
        plan.home.seeds: "where you can leave something for the dreamer",
        f"{plan.home.folder}/{NIGHTS}": "a list of the nights, for Obsidian's Bases",
    }
    if plan.creates:
        click.echo("This would be written:" if dry_run else "Written:")
        for path, _ in plan.creates:
            memory = "the memory's log" if path.endswith(LOG_NAME) else "the memory's lessons"
            click.echo(f"  {path}: {purposes.get(path, memory)}")
    if plan.policy_folder:
        verb = "would now say" if dry_run else "now says"
        click.echo(f"{plan.policy} {verb} `dream_folder: {plan.policy_folder}`.")
    if plan.kept:
        click.echo(f"Left as it is: {', '.join(plan.kept)}.")
    for sentence in plan.said:
        click.echo(sentence)
    for problem in live.problems:
        click.echo(f"To mend: {problem}")
    if not plan.creates and not plan.policy_folder:
        click.echo("Everything is in its place; nothing was written.")
    elif not dry_run:
        click.echo("None of your own notes was touched. Try `aria-dream dream`, or go away for a while.")
