"""What is left of the budget, and what holds a reach back, in words and as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from aria_dream.adapters.gate.consent import has_consent
from aria_dream.adapters.gate.ledger import LEDGER
from aria_dream.adapters.gate.ledger import counted as counted_for
from aria_dream.adapters.gate.rate_limit_backoff import backoff_text
from aria_dream.cli.output import counted as amount
from aria_dream.policy.settings import local_now

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aria_dream.adapters.disk.places import Places
    from aria_dream.adapters.index.live_policy import LivePolicy
    from aria_dream.policy.settings import Settings
    from aria_dream.reach.budget import Spent


def budget_text(counted: Spent | None, settings: Settings) -> str:
    """What is left in each window, as a sentence."""
    if counted is None:
        return "Budget: the ledger cannot be read, so nothing may be spent."
    left = (
        (counted.in_5h, settings.reach_requests_per_5h, "in these 5 hours"),
        (counted.in_week, settings.reach_requests_per_week, "this week"),
        (counted.in_month, settings.monthly_reach_ceiling, "this month"),
    )
    windows = ", ".join(
        f"{max(0, limit - used)} of {limit} {name}" if limit else f"none {name}" for used, limit, name in left
    )
    return f"Requests left: {windows}; a reach costs {settings.requests_per_reach}."


def budget_object(counted: Spent | None, settings: Settings) -> dict[str, object]:
    """The budget as JSON; `spent` is null where the ledger cannot be read."""
    limits = {
        "in_5h": settings.reach_requests_per_5h,
        "in_week": settings.reach_requests_per_week,
        "in_month": settings.monthly_reach_ceiling,
    }
    spent = None
    if counted is not None:
        spent = {"in_5h": counted.in_5h, "in_week": counted.in_week, "in_month": counted.in_month}
    return {"spent": spent, "limits": limits, "requests_per_reach": settings.requests_per_reach}


def reach_lines(places: Places, live: LivePolicy, unfinished: int) -> Iterator[str]:
    """For `status`: what is left of the budget, what holds a reach back, and how many are `unfinished`. Nothing where
    nobody ever reached."""
    counted, backoff = _standing(places, live)
    if unfinished:
        waits = amount(unfinished, "reach is", "reaches are")
        yield f"{waits} paid for and not in a dream note yet; `aria-dream reach` or the daemon tries again."
    if not (places.state / LEDGER).exists() and not backoff and not has_consent(places.state):
        return
    if refusal := live.policy.reach_refusal():
        yield f"No reach may be made: {refusal}."
    elif backoff:
        yield f"{backoff[:1].upper()}{backoff[1:]}."
    yield f"Reach: {_lowered(budget_text(counted, live.policy.settings))}"


def reach_state(places: Places, live: LivePolicy, unfinished: int) -> dict[str, object]:
    """For `status --json`: whether a reach could be made, and the budget."""
    counted, backoff = _standing(places, live)
    return {
        "refusal": live.policy.reach_refusal(),
        "pause": backoff,
        "confirmed": has_consent(places.state),
        "unfinished": unfinished,
        **budget_object(counted, live.policy.settings),
    }


def _standing(places: Places, live: LivePolicy) -> tuple[Spent | None, str]:
    now = local_now(datetime.now().astimezone(), live.policy.settings.timezone)
    return counted_for(places.state, live.policy.settings, now), backoff_text(places.state, now, by_itself=True)


def _lowered(sentence: str) -> str:
    return f"{sentence[:1].lower()}{sentence[1:]}"
