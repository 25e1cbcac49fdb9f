"""An answer is read as an enum and a bounded sentence, whatever stands around it, and never guessed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.judging.triage_prompt import LONGEST_REASON, Drop, Keep, Unreadable
from aria_dream.judging.verdict import parse_object, parse_verdict, plain_reason

OBJECT = '{"reason": "both are fed", "verdict": "keep"}'
KEPT = Keep(None, "both are fed")


@pytest.mark.parametrize(
    "raw",
    [
        OBJECT,
        f"```json\n{OBJECT}\n```",
        f"~~~\n{OBJECT}\n~~~ and so on",
        f"\ufeff \n{OBJECT}\n\n\n",
        f"Sure, {{here}} it is [1]: {OBJECT} I hope {{it}} helps.",
        f"<think>perhaps {OBJECT.replace('keep', 'drop')}?</think>{OBJECT}",
        f'<thinking>a {{"x"</thinking>\n{OBJECT}',
        f'I wonder {{"reason": 1}} …</think>\n{OBJECT}',
        f"[THINK]{{[/THINK]{OBJECT}",
        f"◁think▷{{◁/think▷{OBJECT}",
        f"<|channel|>analysis<|message|>{{}}<|end|><|start|>assistant<|channel|>final<|message|>{OBJECT}",
        '{"verdict": " Keep ", "reason": "both are fed."}',
        '{\n  "reason":\t"both are fed",\r\n "verdict":"KEEP"}',
    ],
)
def test_wrapping_is_forgiven(raw: str) -> None:
    assert parse_verdict(raw) == KEPT


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("", "empty"),
        ("keep", "no JSON object"),
        ('"keep"', "no JSON object"),
        ('{"reason": "both are fed", "verdict": "ke', "cut"),
        ('{"reason": "both are fed", "verdict"', "cut"),
        (OBJECT[:-1], "cut"),
        (OBJECT + OBJECT, "two objects"),
        (f"[{OBJECT}]", "list"),
        (f'[{OBJECT}, {{"b', "cut"),
        (f'["x", {OBJECT}', "cut"),
        (f"{{result: {OBJECT}}}", "no JSON object"),
        (f"<think>{OBJECT}", "still thinking"),
        ('{"reason": "foo </think> {"reason": "x", "verdict": "keep"}', "cut"),
        ('{"reason": "a", "verdict": "keep", "verdict": "drop"}', "same key twice"),
        ('{"reason": NaN, "verdict": "keep"}', "number"),
        ('{"reason": "a", "verdict": "keep", "path": "x"}', "form"),
        ('{"verdict": "keep"}', "form"),
        ('{"reason": 1, "verdict": "keep"}', "form"),
        ('{"reason": "a", "verdict": true}', "form"),
        ('{"reason": "a", "verdict": ["keep"]}', "form"),
        ('{"reason": " \\u200b ", "verdict": "keep"}', "no reason"),
        ('{"reason": "a", "verdict": "keep it"}', "neither"),
        ('{"reason": "a", "verdict": "kеep"}', "neither"),  # a Cyrillic е
        ("[[" * 30_000, "nested"),
        ('{"a":' * 10_000, "nested"),
        ("{" * 60_000, "cut"),
        (" " * 70_000, "does not end"),
    ],
)
def test_nothing_is_guessed(raw: str, why: str) -> None:
    found = parse_verdict(raw)
    assert isinstance(found, Unreadable)
    assert why in found.reason


def test_a_drop_is_a_drop() -> None:
    assert parse_verdict(OBJECT.replace("keep", "drop")) == Drop(None, "both are fed")


def test_string_values_are_untouched_by_what_looks_like_wrapping() -> None:
    value = {"a": "```json\n{}\n``` <think>{</think> [/THINK] \\ \u2028"}
    assert parse_object(f"```\n{json.dumps(value)}\n```") == value


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("A sentence.", "A sentence"),
        ("Wait...", "Wait..."),
        ("two\nlines\r\n# head", "two lines # head"),
        ("see https://x.example/a?b and www.y.example or me@z.example now", "see … and … or … now"),
        ("open obsidian://open?vault=x or mailto:a or docs.example.com/path", "open … or … or …"),
        ("a\u200bb\u202ec\ud800", "abc\ufffd"),
        ("<img src=x>", "‹img src=x›"),
        ("@you and a@b, not c@.d nor (me@z.example)", "@you and a@b, not c@.d nor …"),
    ],
)
def test_a_reason_is_one_line_without_addresses(said: str, shown: str) -> None:
    assert plain_reason(said) == shown


@pytest.mark.parametrize("piece", ["@", "a@", "a@b", "a.", "a.b@", "www.", "://", "-", "x", "a.bb/", "data:"])
def test_no_reason_takes_long_to_read(piece: str) -> None:
    whole = json.dumps({"reason": piece * (60_000 // len(piece)), "verdict": "keep"})
    assert isinstance(parse_verdict(whole), Keep)  # quadratic or worse, it would run into the suite's timeout
    assert plain_reason(f"{piece * 200} " * 30)


@given(st.text(max_size=2000))
def test_a_reason_is_bounded(said: str) -> None:
    shown = plain_reason(said)
    assert len(shown) <= LONGEST_REASON
    assert "\n" not in shown
    assert "://" not in shown


@given(st.text(max_size=400))
def test_any_answer_gives_one_of_three(raw: str) -> None:
    assert isinstance(parse_verdict(raw), Keep | Drop | Unreadable)


@given(st.text(max_size=80), st.sampled_from(["keep", "drop"]), st.text(alphabet="ab `~\n", max_size=30))
def test_a_whole_object_is_found_in_any_harmless_talk(reason: str, verdict: str, talk: str) -> None:
    raw = f"{talk}{json.dumps({'reason': reason, 'verdict': verdict})}{talk}"
    assert parse_object(raw) == {"reason": reason, "verdict": verdict}
