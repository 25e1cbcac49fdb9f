"""`status.json`: what the daemon of a vault is doing, for status bars and for `aria-dream status`.

Replaced as a whole whenever something in it changes, so that a reader sees one state or the next. Whether a daemon is
there at all, only its lock tells.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from aria_dream.adapters.disk.lock import Holder, read_holder
from aria_dream.notes.jsonl import as_mapping, as_text, as_texts, as_whole

if TYPE_CHECKING:
    from pathlib import Path

STATUS_NAME = "status.json"
VERSION = 1

Doing = Literal["waiting", "dreaming", "slowed", "stopped"]
DOINGS: tuple[Doing, ...] = ("waiting", "dreaming", "slowed", "stopped")


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    """The last run that ended."""

    at: str
    """When it started: ISO 8601 with offset."""
    occasion: str
    end: str
    """A value of `RunEnd`."""
    reason: str
    pairs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The object in `status.json`."""

    doing: Doing
    reason: str
    """One sentence without a full stop: what it waits for, or why it dreams."""
    at: str
    """Since when exactly this is so: ISO 8601 with offset."""
    until: str | None = None
    """Nothing can be due before; null where nobody can tell."""
    holds: tuple[str, ...] = ()
    """One word for each thing that holds a dream back, the weightiest first."""
    remarks: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """What the writer should mend."""
    vault: str = ""
    host: str = ""
    pid: int = 0
    version: str = ""
    """Of aria-dream."""
    started_at: str = ""
    watching: str = "events"
    """`events`, or `polling`."""
    watching_why: str = ""
    open_proposals: int = 0
    is_review_full: bool = False
    owed_night: str | None = None
    """Local date of the night whose work is not done yet."""
    last_dream_at: str | None = None
    last_run: LastRun | None = None
    failures: int = 0
    """Failures in a row."""


def render_status(status: Status) -> str:
    """The file's text; `parse_status` gives the status back."""
    return json.dumps({"format": VERSION, **asdict(status)}, indent=2) + "\n"


def parse_status(text: str) -> Status | None:
    """The status; None where the text is none. Unknown keys are passed over. Never raises."""
    try:
        found = as_mapping(json.loads(text))
        if found.get("doing") not in DOINGS:
            return None
        run = found.get("last_run")
        return Status(
            doing=next(doing for doing in DOINGS if doing == found["doing"]),
            reason=as_text(found["reason"]),
            at=as_text(found["at"]),
            until=_text_or_none(found, "until"),
            holds=as_texts(found.get("holds", [])),
            remarks=as_texts(found.get("remarks", [])),
            problems=as_texts(found.get("problems", [])),
            vault=as_text(found.get("vault", "")),
            host=as_text(found.get("host", "")),
            pid=as_whole(found.get("pid", 0)),
            version=as_text(found.get("version", "")),
            started_at=as_text(found.get("started_at", "")),
            watching=as_text(found.get("watching", "")),
            watching_why=as_text(found.get("watching_why", "")),
            open_proposals=as_whole(found.get("open_proposals", 0)),
            is_review_full=found.get("is_review_full") is True,
            owed_night=_text_or_none(found, "owed_night"),
            last_dream_at=_text_or_none(found, "last_dream_at"),
            last_run=None if run is None else _last_run(as_mapping(run)),
            failures=as_whole(found.get("failures", 0)),
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _text_or_none(found: dict[str, object], name: str) -> str | None:
    value = found.get(name)
    return None if value is None else as_text(value)


def _last_run(found: dict[str, object]) -> LastRun:
    return LastRun(
        at=as_text(found["at"]),
        occasion=as_text(found["occasion"]),
        end=as_text(found["end"]),
        reason=as_text(found["reason"]),
        pairs=as_whole(found["pairs"]),
    )


def write_status(folder: Path, status: Status) -> None:
    """Replaces `status.json` in `folder`. A disk that refuses is passed over: nothing rests on this file."""
    path = folder / STATUS_NAME
    temp = path.with_name(f".{STATUS_NAME}.{os.getpid()}")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        temp.write_text(render_status(status), encoding="utf-8")
        temp.replace(path)
    except OSError:
        with suppress(OSError):
            temp.unlink()


def read_status(folder: Path) -> Status | None:
    """The status in `folder`; None where there is none that can be read."""
    try:
        return parse_status((folder / STATUS_NAME).read_text("utf-8", "replace"))
    except OSError:
        return None


def read_daemon(folder: Path) -> Holder | None:
    """Who watches the vault whose state lies in `folder`; None where nobody does. Takes no lock.

    A daemon on another machine counts as there where the state folder is shared; this cannot be looked into.
    """
    for name in ("daemon.lock", "daemon.lock.owner"):
        holder = read_holder(folder / name)
        if holder is not None and holder.is_alive():
            return holder
    return None
