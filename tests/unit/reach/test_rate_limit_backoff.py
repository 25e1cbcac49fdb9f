"""When another reach may be tried after one that failed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.adapters.gate.rate_limit_backoff import LONGEST_WAIT, Backoff, StopReaching, Wait, pause_s, reach_pause

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Berlin")  # 13:00 there


@pytest.mark.parametrize(
    ("message", "until"),
    [
        ('{"error":{"type":"usage_limit_reached","resets_in_seconds":13872}}', NOW + timedelta(seconds=13872)),
        (r"{\"resets_in_seconds\": 60}", NOW + timedelta(seconds=60)),
        (f'{{"resets_at":{int(NOW.timestamp()) + 90}}}', NOW + timedelta(seconds=90)),
        ("You’ve hit your usage limit. Try again at 7:14 PM.", datetime(2026, 11, 30, 18, 14, tzinfo=UTC)),
        ("You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), or try again at 2:13 PM.",
         datetime(2026, 11, 30, 13, 13, tzinfo=UTC)),
        ("You've hit your usage limit … or try again at 19:14.", datetime(2026, 11, 30, 18, 14, tzinfo=UTC)),
        ("You've hit your usage limit. try again at Dec 3rd, 2026 9:41 AM.", datetime(2026, 12, 3, 8, 41, tzinfo=UTC)),
        ("usage limit; try again at 12:30 AM", datetime(2026, 11, 30, 23, 30, tzinfo=UTC)),
        ("You've hit your usage limit. Try again in 3 days 4 hours 5 minutes.",
         NOW + timedelta(days=3, hours=4, minutes=5)),
        ("Rate limit reached. Please try again in 1.2s", NOW + timedelta(seconds=2)),
        ("usage limit, try again in 1 hour and 2 minutes", NOW + timedelta(hours=1, minutes=2)),
    ],
)  # fmt: skip
def test_a_known_reset_is_waited_for(message: str, until: datetime) -> None:
    assert reach_pause(message, NOW, ZONE) == Wait(until)


@pytest.mark.parametrize(
    "message",
    [
        '{"error":{"type":"usage_limit_reached","resets_at":1577836800}}',
        '{"resets_in_seconds":-5}', '{"resets_in_seconds":0}', '{"resets_in_seconds":999999999999}',
        '{"resets_at":999999999999999999}', '{"resets_in_seconds":NaN}', "usage limit, try again at 12:59 PM",
        "usage limit, try again at 99:99 PM", "usage limit, try again at Feb 31st, 2027 9:00 AM",
        "exceeded retry limit, last status: 429 Too Many Requests", "", "try again in a while",
        "Selected model is at capacity. Please try a different model.", "unexpected status 500",
        "unexpected status 502 Bad Gateway: upstream said 403, url: http://127.0.0.1:401/v1/responses",
    ],
)  # fmt: skip
def test_an_unknown_or_past_reset_is_a_bounded_pause(message: str) -> None:
    assert reach_pause(message, NOW, ZONE) == Backoff()


@pytest.mark.parametrize(
    "message",
    [
        "unexpected status 401 Unauthorized: token expired", "unexpected status 403 Forbidden",
        "To use Codex with your ChatGPT plan, upgrade", "Quota exceeded. Check your plan.",
        "Missing environment variable: `OPENAI_API_KEY`",
    ],
)  # fmt: skip
def test_what_only_the_writer_can_mend_stops(message: str) -> None:
    assert reach_pause(message, NOW, ZONE) == StopReaching()


def test_pauses_grow_with_jitter_and_a_cap() -> None:
    longest = [pause_s(failures, 0.0) for failures in range(1, 40)]
    assert longest[:3] == [60, 120, 240]
    assert longest == sorted(longest)
    assert longest[-1] == 6 * 3600
    assert pause_s(3, 1.0) == 120
    assert pause_s(-4, -1.0) == 60


@given(st.text() | st.from_regex(r"try again (at|in) [0-9]{1,4}(:[0-9]{2})? ?[a-zA-Z]{0,8}.{0,20}"))
def test_no_message_raises_and_no_wait_is_unbounded(message: str) -> None:
    found = reach_pause(message, NOW, ZONE)
    assert not isinstance(found, Wait) or NOW < found.until <= NOW + LONGEST_WAIT
