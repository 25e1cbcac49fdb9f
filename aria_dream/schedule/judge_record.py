"""What `runs.jsonl` keeps of a judge that could not judge as the policy asks, for `status` and `doctor`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from aria_dream.notes.jsonl import as_moment, as_text, parse_records

if TYPE_CHECKING:
    from datetime import datetime

VERSION = 1
Occasion = Literal["dream", "consolidation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTrouble:
    """The last word on a model that judges."""

    at: datetime
    """Aware."""
    occasion: str
    """An `Occasion`, or one of a later version."""
    trouble: str
    """One sentence without its full stop: what went wrong, and who judged instead; `""` once all went well again."""


def judge_record(at: datetime, occasion: Occasion, trouble: str) -> dict[str, object]:
    """The record, ready for the journal."""
    return {"type": "judge", "version": VERSION, "at": at.isoformat(), "occasion": occasion, "trouble": trouble}


def last_trouble(text: str, occasion: Occasion | None = None) -> JudgeTrouble | None:
    """The newest trouble that is not over, of that occasion or of any; None where there is none. Never raises."""
    last: dict[str, JudgeTrouble] = {}
    for _, record in parse_records(text)[0]:
        if record.get("type") != "judge":
            continue
        with suppress(KeyError, TypeError, ValueError):
            found = JudgeTrouble(
                at=as_moment(record["at"]), occasion=as_text(record["occasion"]), trouble=as_text(record["trouble"])
            )
            last[found.occasion] = found
    told = [one for one in last.values() if one.trouble and occasion in (None, one.occasion)]
    return max(told, key=lambda one: one.at, default=None)
