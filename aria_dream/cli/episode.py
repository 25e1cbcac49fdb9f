"""One dream as the daemon's child: `python -P -m aria_dream.cli.episode VAULT --kind "idle dream"`. Not for people.

Every step needs the parent's leave (`effects/leave`); what it reports holds ids and counts, no note text and no title.
"""

from __future__ import annotations

import secrets
import sys
from datetime import datetime
from pathlib import Path

import click

from aria_dream.effects.leave import AskingVault, Leave, protocol_streams
from aria_dream.effects.rotating_log import cause_of
from aria_dream.errors import AriaDreamError


@click.command("episode")
@click.argument("vault", type=click.Path(path_type=Path))
@click.option("--kind", default="idle dream", help="As the heading in the log names it.")
@click.option("--quiet-s", type=float, default=0.0, help="Leave a dream note alone that somebody touched so recently.")
@click.option("--host", default="", help="The machine that a new dream note belongs to.")
@click.option("--ticks", is_flag=True, help="Carry out what was ticked instead of dreaming.")
def command(vault: Path, *, kind: str, quiet_s: float, host: str, ticks: bool) -> None:
    """Dream once for the daemon, or carry out what was ticked."""
    out, answers = protocol_streams()
    leave = Leave(out, answers)
    leave("start")
    try:
        leave.say({"result": _ticks(vault, leave, quiet_s) if ticks else _dream(vault, leave, kind, quiet_s, host)})
    except AriaDreamError as error:
        leave.say({"failed": {"error": str(error)}})
        sys.exit(error.exit_code)
    except Exception as error:  # noqa: BLE001 - told to the parent, without words that could be a note's
        leave.say({"failed": {"error": cause_of(error)}})
        sys.exit(1)


def _ticks(root: Path, leave: Leave, quiet_s: float) -> dict[str, object]:
    """How many ticks were carried out, by what became of them."""
    from dataclasses import replace

    from aria_dream.cli.desk import MOST_LOOKS, add_settlement, open_desk
    from aria_dream.review_cycle import Settlement, settle

    done = Settlement()
    for _ in range(MOST_LOOKS):
        with open_desk(root) as desk:
            looked = settle(replace(desk, quiet_s=quiet_s, files=AskingVault(desk.files, leave)))
        add_settlement(done, looked)
        if not looked.again:
            break
    counts = ("applied", "rejected", "undone", "asked", "stale", "expired", "superseded", "waiting")
    return {name: len(getattr(done, name)) for name in counts}


def _dream(root: Path, leave: Leave, kind: str, quiet_s: float, host: str) -> dict[str, object]:
    from aria_dream.cli.dream import SEEDS
    from aria_dream.cycle import DreamRequest, dream_once
    from aria_dream.effects.dream_parts import open_dream_parts
    from aria_dream.effects.dreamt_vault import read_dreamt_vault
    from aria_dream.effects.files import DiskVault
    from aria_dream.effects.lock import dream_lock
    from aria_dream.effects.places import find_places
    from aria_dream.effects.records import RecordBook
    from aria_dream.policy.clock import local_now

    def step(_done: int, _total: int) -> None:
        leave("reading")

    places = find_places()
    vault = read_dreamt_vault(root, places, progress=step)
    state = vault.live.state_folder(places)
    request = DreamRequest(
        at=local_now(datetime.now().astimezone(), vault.live.policy.settings.timezone),
        seed=secrets.randbelow(SEEDS),
        kind=kind,
        quiet_s=quiet_s,
        host=host,
    )
    files = DiskVault(vault.root, state)
    with dream_lock(state).held(), open_dream_parts(vault, places) as parts:
        parts.reading = parts.embedding = parts.judging = step
        files.recover()
        result = dream_once(
            vault, AskingVault(files, leave), RecordBook(state), request, ranker=parts.ranker, judge=parts.judge
        )
        missing = list(parts.problems)
    return {
        "episode": result.record.id if result.written and result.record is not None else "",
        "note": result.note if result.written else "",
        "pairs": len(result.block.pairs) if result.written and result.block is not None else 0,
        "reason": result.reason.partition(":")[0],  # behind the colon stand titles
        "missing": missing,
    }


if __name__ == "__main__":
    command()
