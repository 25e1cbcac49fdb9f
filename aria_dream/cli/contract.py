"""`aria-dream contract`: the executable postcondition of a synthesis, for whoever writes the two files.

Exit codes are the validator's own: 0 passed, 1 failed, 2 could not run.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import date as Date  # noqa: N812 - `date` is the option's name
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.adapters.state.memory_folder import NoMemory, find_memory_folder
from aria_dream.cli.output import echo_json
from aria_dream.cli.vault_argument import vault_argument
from aria_dream.errors import AriaDreamError
from aria_dream.policy.settings import local_now
from aria_dream.synthesis.contract import check, render_verdict
from aria_dream.synthesis.lesson import read_rows
from aria_dream.synthesis.memory import lessons_path, log_path
from aria_dream.synthesis.snapshot import parse_snapshot, render_snapshot, take_snapshot
from aria_dream.usecases.synthesis import path_exists
from aria_dream.world import Content, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aria_dream.markdown.note import NotePath

FAILED = 1
COULD_NOT_RUN = 2


@click.group("contract")
def command() -> None:
    """Take a snapshot of a memory before a synthesis, and check it after."""


@command.command("snapshot")
@vault_argument
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, metavar="FILE", help="Where to.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def snapshot(vault: Path, *, out: Path, as_json: bool) -> None:
    """Write what DREAM_LOG.md and LESSONS.jsonl are now into FILE. The vault is only read."""
    with _can_run():
        folder, log, lessons, _ = _read(vault)
        bad = next((row.line for row in read_rows(lessons or b"") if row.record is None), 0)
        if bad:
            raise AriaDreamError(f"{lessons_path(folder)}:{bad} is no JSON object")
        taken = take_snapshot(log, lessons)
        out.write_text(render_snapshot(taken), encoding="utf-8", newline="\n")
    if as_json:
        echo_json({"out": str(out), "folder": folder, "lessons": taken.lessons.line_count})
    else:
        click.echo(f"DREAM_SNAPSHOT {out} log_bytes={taken.dream.byte_length} lessons={taken.lessons.line_count}")


@command.command("check")
@vault_argument
@click.option(
    "--snapshot", "before", type=click.Path(path_type=Path), required=True, metavar="FILE", help="Taken before."
)
@click.option("--date", "day", metavar="YYYY-MM-DD", help="Local date of the run; today in the policy's time zone.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def check_command(context: click.Context, vault: Path, *, before: Path, day: str | None, as_json: bool) -> None:
    """Check that the files are the snapshot plus what one synthesis may append."""
    with _can_run():
        taken = parse_snapshot(before.read_bytes().decode("utf-8", "replace"))
        if isinstance(taken, str):
            raise AriaDreamError(f"{before}: {taken}")
        _, log, lessons, today = _read(vault)
        verdict = check(taken, log, lessons, _date(day) if day else today, path_exists(vault))
    if as_json:
        echo_json(
            {
                "passed": verdict.passed,
                "date": verdict.date,
                "lessons_added": verdict.lessons_added,
                "candidates": verdict.candidates,
                "failures": list(verdict.failures),
            }
        )
    else:
        click.echo(render_verdict(verdict))
    context.exit(0 if verdict.passed else FAILED)


@contextmanager
def _can_run() -> Iterator[None]:
    """Whatever keeps the validator from running is exit code 2, whichever code it has elsewhere."""
    try:
        yield
    except (AriaDreamError, OSError, ValueError) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        raise _CouldNotRunError(f"DREAM_CONTRACT could not run: {reason}") from error


class _CouldNotRunError(click.ClickException):
    exit_code = COULD_NOT_RUN


def _date(text: str) -> str:
    if Date.fromisoformat(text).isoformat() != text:
        raise ValueError(f"{text!r} is no date like 2026-11-30")
    return text


def _read(vault: Path) -> tuple[str, bytes | None, bytes | None, str]:
    """The memory folder, its log and its lessons (None: not there), and the configured local date."""
    if not vault.is_dir():
        raise AriaDreamError(f"there is no vault at {vault}")
    places = find_places()
    live = read_live_policy(vault.resolve(), places)
    files = DiskVault(vault, live.state_folder(places))
    folder = find_memory_folder(files.root, live.policy)
    if isinstance(folder, NoMemory):
        raise AriaDreamError(folder.reason)
    today = local_now(datetime.now().astimezone(), live.policy.settings.timezone)
    return folder, _content(files, log_path(folder)), _content(files, lessons_path(folder)), f"{today:%Y-%m-%d}"


def _content(files: DiskVault, path: NotePath) -> bytes | None:
    found = files.read(path)
    if isinstance(found, Refused):
        raise AriaDreamError(f"{path}: {found.reason}")
    return found.data if isinstance(found, Content) else None
