"""`aria-dream status`: what the daemon of a vault is doing, in words."""

from __future__ import annotations

import os
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.adapters.state.reported_problems import tell_once
from aria_dream.adapters.state.run_store import RunStore
from aria_dream.adapters.state.status import read_daemon, read_status
from aria_dream.cli.output import counted, echo_json
from aria_dream.cli.reach_budget import reach_lines, reach_state
from aria_dream.cli.review_session import tick_remarks, ticks_object
from aria_dream.cli.vault_argument import vault_argument
from aria_dream.policy.triggers import unbuilt
from aria_dream.schedule.presence import ago
from aria_dream.usecases.own_lines import OpenTicks, read_open_ticks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aria_dream.adapters.disk.lock import Holder
    from aria_dream.adapters.index.live_policy import LivePolicy
    from aria_dream.adapters.state.run_store import LastNight, Remembered
    from aria_dream.adapters.state.status import Status
    from aria_dream.schedule.run_record import JudgeTrouble


@click.command("status")
@vault_argument
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(vault: Path, *, as_json: bool) -> None:
    """Show what the daemon of a vault is doing, and what it waits for.

    Nothing is written into the vault, and the daemon is not disturbed.
    """
    places = find_places()
    root = Path(os.path.realpath(vault))
    live = read_live_policy(root, places)
    folder = live.state_folder(places)
    daemon, status, remembered = read_daemon(folder), read_status(folder), RunStore(folder).read()
    ticks = OpenTicks() if remembered.damage else read_open_ticks(root, places)
    unfinished = remembered.unfinished_reaches
    if as_json:
        reach = reach_state(places, live, unfinished)
        echo_json({**_object(root, live, daemon, status, remembered), "reach": reach, "ticks": ticks_object(ticks)})
    else:
        torn = tell_once(folder, remembered.problems)
        left_out = [f"Left out, and there is nothing to do: {problem}." for problem in torn]
        lines = (*_lines(root, live, daemon, status, remembered), *left_out, *_tick_lines(ticks))
        for line in (*lines, *reach_lines(places, live, unfinished)):
            click.echo(line)


def _object(
    root: Path, live: LivePolicy, daemon: Holder | None, status: Status | None, remembered: Remembered
) -> dict[str, object]:
    return {
        "vault": str(root),
        "running": daemon is not None,
        "daemon": None if daemon is None else asdict(daemon),
        "status": None if status is None else asdict(status),
        "open_proposals": remembered.open_proposals,
        "review_full": remembered.open_proposals >= live.policy.settings.max_open_proposals,
        "last_dream_at": _last_dream(remembered),
        "last_night": None if remembered.last_night is None else _night_object(remembered.last_night),
        "judge": None if remembered.judge_trouble is None else _judge_object(remembered.judge_trouble),
        "dreaming_refusal": live.policy.dream_refusal(),
        "not_built_yet": list(unbuilt(live.triggers)),
        "problems": [str(problem) for problem in (*live.problems, *remembered.problems)],
        "damage": remembered.damage,
    }


def _night_object(last: LastNight) -> dict[str, object]:
    return {**asdict(last), "night": last.night.isoformat()}


def _judge_object(found: JudgeTrouble) -> dict[str, object]:
    return {**asdict(found), "at": found.at.isoformat(timespec="seconds")}


def _last_dream(remembered: Remembered) -> str | None:
    dreams = [episode.at for episode in remembered.episodes]
    return max(dreams).isoformat(timespec="seconds") if dreams else None


def _lines(
    root: Path, live: LivePolicy, daemon: Holder | None, status: Status | None, remembered: Remembered
) -> Iterator[str]:
    is_current = daemon is not None and status is not None and status.doing != "stopped"
    if daemon is None:
        yield f"{root.name}: no daemon looks after this vault. Start one with `aria-dream run`,"
        yield "or let the system do it: `aria-dream service install`."
    else:
        yield f"{root.name}: looked after by {daemon}."
    if status is not None and is_current:
        yield f"{_DOING[status.doing]}: {status.reason}."
        yield from (f"Also: {remark}." for remark in status.remarks)
        if status.owed_night:
            yield f"The work of the night of {status.owed_night} is still to be done."
        if status.watching != "events":
            yield f"The vault is walked over every now and then, not watched: {status.watching_why}."
    elif refusal := live.policy.dream_refusal():
        yield f"No dream may start: {refusal}."
    yield from _past(status, remembered)
    waiting, most = remembered.open_proposals, live.policy.settings.max_open_proposals
    full = "; dreaming rests until some of them are decided" if waiting >= most else ""
    yield f"{counted(waiting, 'proposal waits', 'proposals wait')} for you{full}."
    watched = status.problems if status is not None and is_current else ()
    found = [one for one in dict.fromkeys((*map(str, live.problems), *watched)) if one not in remembered.problems]
    if remembered.damage:
        yield f"To mend: {remembered.damage}."
    yield from (f"To mend: {problem}" for problem in found)


def _tick_lines(ticks: OpenTicks) -> Iterator[str]:
    yield from (f"{remark[:1].upper()}{remark[1:]}." for remark in tick_remarks(ticks))
    yield from (f"To mend: {problem}." for problem in (*ticks.ignored, *ticks.hindered))


_DOING = {
    "waiting": "Now",
    "dreaming": "Dreaming now",
    "slowed": "Slowed down",
    "stopped": "Stopped",
}


def _past(status: Status | None, remembered: Remembered) -> Iterator[str]:
    dreams = [episode.at for episode in remembered.episodes]
    yield f"Last dream: {_when(max(dreams))}." if dreams else "No dream was dreamt on this machine yet."
    if remembered.last_night is not None:
        yield _night(remembered.last_night)
    if (trouble := remembered.judge_trouble) is not None:
        what = "night" if trouble.occasion == "consolidation" else trouble.occasion
        yield f"The judge of the {what} of {_when(trouble.at)}: {trouble.trouble}."
    run = None if status is None else status.last_run
    if run is not None and run.end != "done":
        yield f"The last run, {_when(datetime.fromisoformat(run.at))}, was {_ENDS.get(run.end, run.end)}: {run.reason}."
    if status is not None and status.failures > 1:
        yield f"{status.failures} runs in a row have failed; the log tells more."


def _night(last: LastNight) -> str:
    found = counted(last.proposals, "proposal was", "proposals were")
    left = f", {counted(last.escalated, 'contradiction')} left to you" if last.escalated else ""
    if not last.is_over:
        return f"The night of {last.night} was cut off and goes on at the next occasion: {found} made so far{left}."
    early = f" It ended early: {last.reason}." if last.reason else ""
    return f"Last night, {last.night}: {found} made{left}.{early}"


_ENDS = {"interrupted": "ended early", "refused": "put off", "failed": "a failure", "broken off": "broken off"}


def _when(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M}, {ago((datetime.now(UTC) - at).total_seconds())}"
