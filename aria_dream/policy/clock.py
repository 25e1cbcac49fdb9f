"""The writer's local time, as the policy's `timezone` says."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

if TYPE_CHECKING:
    from datetime import datetime


def local_now(now: datetime, timezone: str) -> datetime:
    """`now` (aware, in the system's zone) in the zone that the policy names; unchanged for `local` or an unknown one
    (which the policy's own reading has reported)."""
    if timezone == "local":
        return now
    try:
        return now.astimezone(ZoneInfo(timezone))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return now
