"""`aria-dream graduation`: how far each kind of proposal has come, and the switch that only a person turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from aria_dream.adapters.state.graduation import read_graduated, write_graduated
from aria_dream.cli.output import echo_json, progress_bar
from aria_dream.cli.vault_argument import chosen_vault
from aria_dream.consolidate.figures import nights_of
from aria_dream.errors import PolicyClosedError
from aria_dream.review.graduation import NEVER, bars_of, track_records
from aria_dream.review.proposal import KINDS
from aria_dream.usecases.review_run import open_session

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from aria_dream.review.graduation import Bars, Record
    from aria_dream.review.proposal import Kind
    from aria_dream.usecases.review import ReviewSession

_ACTS = ("enable", "disable")


@click.command("graduation")
@click.argument("words", nargs=-1, metavar="[VAULT] [enable|disable]")
@click.option("--kind", type=click.Choice(KINDS), help="Only this kind of proposal.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(words: tuple[str, ...], *, kind: str | None, as_json: bool) -> None:
    """Show what has earned to be applied without a tick; enable or disable it.

    Enabling is refused until the bars are met and the check against text that gives orders passes. Disabling always
    works. What passes is applied as a tick would be, and can be undone for as long.
    """
    vault, act = _split(words)
    chosen = cast("tuple[Kind, ...]", (kind,) if kind else KINDS)
    with open_session(vault, show=progress_bar) as session:
        bars = bars_of(session.vault.live.policy.settings)
        records = session.records()
        nights = nights_of(session.store.consolidations())
        found = track_records(records.states.values(), bars=bars, zone=session.now.tzinfo, nights=nights)
        if act == "enable":
            _enable(session, [record for record in found if record.kind in chosen], named=kind is not None)
        elif act == "disable":
            enabled = read_graduated(session.store.folder)
            write_graduated(session.store.folder, {one: at for one, at in enabled.items() if one not in chosen})
        enabled = read_graduated(session.store.folder)
    shown = [record for record in found if record.kind in chosen]
    if as_json:
        echo_json({"bars": _bars(bars), "kinds": [_object(record, record.kind in enabled) for record in shown]})
        return
    for record in shown:
        if kind or record.kind in enabled or record.cycles or record.kind == "link":
            _say(record, bars, is_enabled=record.kind in enabled)


def _split(words: Sequence[str]) -> tuple[Path, str | None]:
    act = words[-1] if words and words[-1] in _ACTS else None
    rest = words[:-1] if act else words
    if len(rest) > 1:
        raise click.UsageError("graduation takes the vault, and `enable` or `disable`.")
    return chosen_vault(rest[0] if rest else None), act


def _enable(session: ReviewSession, chosen: Sequence[Record], *, named: bool) -> None:
    eligible = [record.kind for record in chosen if record.is_eligible]
    if not eligible:
        missing = "; ".join(chosen[0].missing) if named else "no kind of proposal has met the bars"
        raise PolicyClosedError(f"not enabled: {missing}")
    from aria_dream.injection.consolidation import consolidation_check
    from aria_dream.injection.injection import injection_check
    from aria_dream.injection.web_injection import web_injection_check

    for result in (injection_check(), web_injection_check(), consolidation_check()):
        if result.failures or not result.passed:
            failure = result.failures[0] if result.failures else "nothing was checked"
            raise PolicyClosedError(f"not enabled: the check against text that gives orders fails ({failure})")
    enabled = read_graduated(session.store.folder)
    write_graduated(session.store.folder, {**dict.fromkeys(eligible, session.now), **enabled})


def _bars(bars: Bars) -> dict[str, object]:
    return {
        "min_cycles": bars.min_cycles,
        "max_false_prune": bars.max_false_prune,
        "min_acceptance": bars.min_acceptance,
        "confidence_floor": bars.confidence_floor,
    }


def _object(record: Record, is_enabled: bool) -> dict[str, object]:  # noqa: FBT001 - a row of a table
    return {
        "kind": record.kind,
        "enabled": is_enabled,
        "eligible": record.is_eligible,
        "missing": list(record.missing),
        "cycles": record.cycles,
        "approved": record.approved,
        "rejected": record.rejected,
        "acceptance": record.acceptance,
        "acceptance_at_least": record.acceptance_at_least,
        "applied": record.applied,
        "rolled_back": record.rolled_back,
        "false_prune": record.false_prune,
        "false_prune_at_most": record.false_prune_at_most,
    }


def _say(record: Record, bars: Bars, *, is_enabled: bool) -> None:
    if record.kind in NEVER:
        click.echo(f"{record.kind}: always waits for you")
        return
    standing = "eligible" if record.is_eligible else "not yet"
    if is_enabled:
        standing = "applied without a tick" if record.is_eligible else "enabled, and resting below the bars"
    click.echo(click.style(f"{record.kind}: {standing}", bold=True))
    click.echo(f"    nights       {_bar(record.cycles, bars.min_cycles)} {record.cycles} of {bars.min_cycles}")
    decided = record.approved + record.rejected
    click.echo(
        f"    accepted     {_percent(record.acceptance)} of {decided} (asked for: {bars.min_acceptance:.0%}; "
        f"95 % sure of {record.acceptance_at_least:.0%} or more)"
    )
    click.echo(
        f"    taken back   {_percent(record.false_prune)} of {record.applied} (must stay below "
        f"{bars.max_false_prune:.0%}; 95 % sure of {record.false_prune_at_most:.0%} or less)"
    )
    if is_enabled:
        click.echo(f"    from a confidence of {bars.confidence_floor:.2f} on; each can be undone")
    elif record.is_eligible:
        click.echo(f"    to let it pass: aria-dream graduation VAULT enable --kind {record.kind}")
    else:
        click.echo(f"    missing: {'; '.join(record.missing)}")


def _bar(done: int, of: int) -> str:
    full = 10 if of <= 0 else min(10, done * 10 // of)
    return "#" * full + "." * (10 - full)


def _percent(ratio: float | None) -> str:
    return "  –" if ratio is None else f"{ratio:.0%}"
