"""`aria-dream reach`: one question to a model outside, with live web search; its answer goes into the dream note."""

from __future__ import annotations

import os
import socket
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from aria_dream.adapters.codex.reach_asks import answered_in_notes
from aria_dream.adapters.codex.reach_probe import KIND, ProbeResult, run_probe
from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.gate.consent import CONSENT, has_consent, write_consent
from aria_dream.adapters.gate.egress import Gate, read_egress
from aria_dream.adapters.gate.ledger import ReachStore, counted
from aria_dream.adapters.gate.rate_limit_backoff import backoff_text
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.cli.output import counted as amount
from aria_dream.cli.output import echo_json, progress_bar
from aria_dream.cli.reach_shown import (
    ASKING,
    egress_object,
    probe_object,
    reach_object,
    say_egress,
    say_probe,
    say_reach,
)
from aria_dream.cli.resonances import chosen_note
from aria_dream.cli.vault_argument import vault_argument
from aria_dream.policy.settings import local_now
from aria_dream.usecases.reach import ReachRequest, reach_once
from aria_dream.usecases.reach_course import open_means, open_reacher

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aria_dream.adapters.disk.places import Places
    from aria_dream.reach.reach_record import ReachKind


@click.command("reach")
@vault_argument
@click.option("--external", is_flag=True, help="Reach on your oldest open external-novelty seed.")
@click.option("--internal", is_flag=True, help="Reach on the best pair of the last dream that is not answered yet.")
@click.option("--start", metavar="NOTE", help="internal: take the last dream that started from this note.")
@click.option("--dry-run", is_flag=True, help="Show the exact text that would leave, to whom, and the budget.")
@click.option("--consent", is_flag=True, help="Confirm for this machine that text of notes may leave it.")
@click.option("--probe", is_flag=True, help="Try the wall: one trivial reach, what it wrote (nothing), what it costs.")
@click.option("--log", is_flag=True, help="Show what has left this machine, when and to whom.")
@click.option("--backfill-memo", is_flag=True, help="Read again from the dream notes which pairs are answered.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(vault: Path, *, start: str | None, dry_run: bool, consent: bool, as_json: bool, **modes: bool) -> None:
    """Ask a model outside, once, with live web search, what your notes alone cannot settle.

    It costs requests of your own plan, within the ceilings of the policy. The answer is appended to the day's dream
    note; none of your own notes is changed.
    """
    mode = _mode(modes, start=start, dry_run=dry_run, consent=consent)
    places = find_places()
    if mode == "log":
        found, problems = read_egress(places.state)
        if as_json:
            echo_json(egress_object(found, problems))
        else:
            say_egress(found, problems)
    elif mode == "backfill_memo":
        _backfill(vault, places, as_json=as_json)
    elif mode == "probe":
        _probe(vault, places, consent=consent, as_json=as_json)
    elif not mode:
        _confirm_only(places, as_json=as_json)
    else:
        kind = cast("ReachKind", mode)
        _reach(vault, places, kind, start=start, dry_run=dry_run, consent=consent, as_json=as_json)


def _mode(modes: Mapping[str, bool], *, start: str | None, dry_run: bool, consent: bool) -> str:
    """What is to be done; `""` where only this machine is to be confirmed."""
    chosen = sorted(name for name, is_given in modes.items() if is_given)
    named = " and ".join(f"--{name.replace('_', '-')}" for name in chosen)
    if len(chosen) > 1:
        raise click.UsageError(f"{named} are two things; ask for one of them.")
    mode = chosen[0] if chosen else ""
    if not mode and (dry_run or start is not None or not consent):
        raise click.UsageError("Say what to reach on: --external (a seed of yours) or --internal (a pair of a dream).")
    if start is not None and mode != "internal":
        raise click.UsageError("--start belongs to --internal.")
    if mode in ("log", "backfill_memo") and (dry_run or consent):
        raise click.UsageError(f"{named} sends nothing; leave --dry-run and --consent out.")
    if mode == "probe" and dry_run:
        raise click.UsageError("--probe sends no word of your notes, so there is nothing to show; leave --dry-run out.")
    if dry_run and consent:
        raise click.UsageError("--dry-run sends nothing, so there is nothing to confirm; leave --consent out.")
    return mode


def _reach(
    root: Path, places: Places, kind: ReachKind, *, start: str | None, dry_run: bool, consent: bool, as_json: bool
) -> None:
    with progress_bar("Reading notes") as progress:
        vault = read_dreamt_vault(root, places, progress=progress)
    state = vault.live.state_folder(places)
    request = ReachRequest(
        at=local_now(datetime.now().astimezone(), vault.live.policy.settings.timezone),
        kind=kind,
        start=None if start is None else chosen_note(vault, start),
        dry_run=dry_run,
        host=socket.gethostname(),
    )
    means = open_means(
        root,
        places,
        vault,
        files=DiskVault(vault.root, state),
        reacher=open_reacher(vault, places),
        confirm=lambda destination: _confirmed(places, destination, given=consent),
        show=progress_bar,
    )
    for problem in vault.problems:
        click.echo(f"To mend: {problem}", err=True)
    result = reach_once(request, means)
    settings = vault.live.policy.settings
    if as_json:
        echo_json(reach_object(result, settings))
    else:
        say_reach(result, settings)


def _probe(root: Path, places: Places, *, consent: bool, as_json: bool) -> None:
    vault = read_dreamt_vault(root, places)
    policy, sharing = vault.live.policy, vault.sharing
    now = local_now(datetime.now().astimezone(), policy.settings.timezone)
    assert now.tzinfo is not None
    reacher = open_reacher(vault, places)
    gate = Gate(state=places.state, sharing=sharing, purpose=KIND)
    refusal = policy.reach_refusal() or sharing.closed or backoff_text(places.state, now)
    if refusal:
        result = ProbeResult(reason=refusal, destination=reacher.destination)
    else:
        if not has_consent(places.state):
            _confirmed(places, reacher.destination, given=consent)
        with ReachStore(vault.live.state_folder(places)).alone().held():
            result = run_probe(reacher, gate, now.tzinfo)
    left = counted(places.state, policy.settings, now)
    if as_json:
        echo_json(probe_object(result, left, policy.settings))
    else:
        say_probe(result, left, policy.settings, place=policy.path)


def _confirmed(places: Places, destination: str, *, given: bool) -> bool:
    """This machine's confirmation, asked for where a person is there; False where nobody gives it."""
    if not given:
        if not is_somebody_here():
            click.echo("Nobody is here to be asked; a script confirms with --consent, once for each machine.", err=True)
            return False
        click.echo(ASKING.format(destination=destination), err=True)
        said = click.prompt("Type yes to let it leave", default="no", show_default=False, err=True)
        if str(said).strip().lower() != "yes":
            return False
    write_consent(places.state, datetime.now().astimezone())
    return True


def is_somebody_here() -> bool:
    """Whether a question can be put to a person."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _confirm_only(places: Places, *, as_json: bool) -> None:
    already = has_consent(places.state)
    if not already:
        write_consent(places.state, datetime.now().astimezone())
    place = places.state / CONSENT
    if as_json:
        echo_json({"confirmed": True, "already": already, "place": str(place)})
    else:
        done = "was confirmed already" if already else "is confirmed now"
        click.echo(f"That text of notes may leave this machine {done}. `aria-dream consent --withdraw` takes it back.")


def _backfill(root: Path, places: Places, *, as_json: bool) -> None:
    vault = read_dreamt_vault(Path(os.path.realpath(root)), places)
    state = vault.live.state_folder(places)
    store = ReachStore(state)
    zone = local_now(datetime.now().astimezone(), vault.live.policy.settings.timezone).tzinfo
    assert zone is not None
    with store.alone().held():
        found = answered_in_notes(vault, DiskVault(vault.root, state), zone)
        added = store.remember(found)
        known, problems = store.answer_cache()
    if as_json:
        echo_json(
            {"in_notes": len(found), "added": added, "known": len(known), "problems": [str(one) for one in problems]}
        )
        return
    for problem in problems:
        click.echo(f"To mend: reach-memo.tsv: {problem}", err=True)
    told = amount(len(found), "answered pair")
    click.echo(f"The dream notes tell of {told}; {added} of them were new to the memo, which holds {len(known)} now.")
