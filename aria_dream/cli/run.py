"""`aria-dream run`: the daemon of one vault, in the foreground; `service` makes the system start it."""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

import aria_dream
from aria_dream.adapters.disk.places import CACHE_VARIABLE, STATE_VARIABLE, find_places
from aria_dream.adapters.state.rotating_log import logging_to
from aria_dream.cli.output import echo_json, progress_bar
from aria_dream.cli.vault_argument import vault_argument
from aria_dream.errors import VaultUnreadableError, WriteRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from aria_dream.adapters.child.episode_process import EpisodeProcess, Order
    from aria_dream.adapters.disk.places import Places
    from aria_dream.daemon import Daemon

log = logging.getLogger(__name__)

AWAY_S = 30.0
"""How long to rest before a vault that was there, and is not, is tried again."""


@click.command("run")
@vault_argument
@click.option("--once", is_flag=True, help="Look once: dream if that is due now, else say why not.")
@click.option("--json", "as_json", is_flag=True, help="With --once: print one JSON object.")
def command(vault: Path, *, once: bool, as_json: bool) -> None:
    """Look after a vault: dream while nobody is there, and let go at once when somebody returns.

    Runs until it is ended (Ctrl-C). `aria-dream status` shows what it waits for.
    """
    if as_json and not once:
        raise click.UsageError("--json belongs to --once; `aria-dream status --json` tells what a daemon is doing.")
    places = find_places()
    root = Path(os.path.realpath(vault))
    ending, said = Ending(), ""
    with ended_by_signals(ending.end):
        while True:  # the vault may get another id, and then lock, state and log are others
            try:
                if _look_after(root, places, ending, once=once, as_json=as_json):
                    return
            except (VaultUnreadableError, WriteRefusedError) as error:
                if once or ending.state_folder is None:
                    raise
                if str(error) != said:
                    with logging_to(ending.state_folder, echo=sys.stderr):
                        log.warning("%s; this is tried again", error)
                said = str(error)
                time.sleep(AWAY_S)


class Ending:
    """What a signal ends: the daemon, once there is one, else the process."""

    daemon: Daemon | None = None
    state_folder: Path | None = None
    """Of the last daemon."""

    def end(self) -> None:
        """Ends it."""
        if self.daemon is None:
            raise SystemExit(0)
        self.daemon.stop()


def _look_after(root: Path, places: Places, ending: Ending, *, once: bool, as_json: bool) -> bool:
    """Runs the daemon; whether that is all."""
    from aria_dream.adapters.disk.lock import daemon_lock
    from aria_dream.adapters.index.live_policy import read_live_policy
    from aria_dream.adapters.machine.presence import Sensors
    from aria_dream.adapters.watch.watcher import VaultWatcher
    from aria_dream.daemon import Daemon, Parting

    live = read_live_policy(root, places)
    state_folder = live.state_folder(places)
    purpose = "aria-dream run --once" if once else "aria-dream run"
    with (
        daemon_lock(state_folder, purpose).held(wait_s=0),
        logging_to(state_folder, echo=None if once else sys.stderr),
    ):
        settings = live.policy.settings
        with progress_bar("Reading notes") as progress:
            watcher = VaultWatcher(
                root, places, state_folder=state_folder, poll_s=settings.poll_s,
                index_debounce_ms=settings.index_debounce_ms, progress=progress,
            )  # fmt: skip
        with watcher:
            daemon = ending.daemon = Daemon(watcher, places, sensors=Sensors(), launch=launch_with(places))
            ending.state_folder = state_folder
            try:
                if once:
                    _say_once(daemon, as_json=as_json)
                    return True
                return daemon.run() is Parting.STOPPED
            finally:
                ending.daemon = None


def _say_once(daemon: Daemon, *, as_json: bool) -> None:
    from aria_dream.adapters.state.status import read_status
    from aria_dream.schedule.due import NotYet

    verdict = daemon.run_once()
    status = None if isinstance(verdict, NotYet) else read_status(daemon.state_folder)
    run = None if status is None else status.last_run
    if as_json:
        is_due = not isinstance(verdict, NotYet)
        until = verdict.until if isinstance(verdict, NotYet) else None
        echo_json(
            {
                "due": is_due,
                "reason": verdict.reason if isinstance(verdict, NotYet) else verdict.why,
                "until": None if until is None else until.isoformat(),
                "end": None if run is None else run.end,
                "said": None if run is None else run.reason,
                "remarks": list(verdict.remarks),
            }
        )
        return
    if isinstance(verdict, NotYet):
        click.echo(f"{verdict.reason[:1].upper()}{verdict.reason[1:]}.")
    else:
        click.echo(f"It was time: {verdict.why}.")
        if run is not None:
            click.echo(f"It is {run.end}: {run.reason}.")
    for remark in verdict.remarks:
        click.echo(f"Also: {remark}.")


def launch_with(places: Places) -> Callable[[Order, Callable[[], None]], EpisodeProcess]:
    """How a stage is started as a child, with these state and cache folders."""

    def launch(order: Order, wake: Callable[[], None]) -> EpisodeProcess:
        from aria_dream.adapters.child.episode_process import EpisodeProcess
        from aria_dream.usecases.episode import child_command

        package = str(Path(aria_dream.__file__).parent.parent)
        environ = {
            **os.environ,
            STATE_VARIABLE: str(places.state),
            CACHE_VARIABLE: str(places.cache),
            "PYTHONPATH": os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH")))),
        }
        return EpisodeProcess(child_command(order), wake=wake, environ=environ, folder=order.state_folder)

    return launch


@contextmanager
def ended_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """SIGTERM, Ctrl-C and a closed terminal call `stop` inside the `with` block; a second Ctrl-C ends at once."""
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]
    before = {getattr(signal, name): signal.getsignal(getattr(signal, name)) for name in names}

    def end(number: int, _frame: object) -> None:
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        stop()

    for number in before:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
