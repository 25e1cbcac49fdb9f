"""What a judge is asked: filled once, marked, and never longer than the window."""

from __future__ import annotations

import pytest

from aria_dream.adapters.index.live_policy import shipped_prompt
from aria_dream.errors import Problem
from aria_dream.judging.prompt_text import Datamark, Messages, Prompt, estimate_tokens, fill_prompt, parse_prompt
from aria_dream.judging.triage_prompt import (
    EXCERPT_LENGTH,
    PROMPT_NAME,
    UNCONNECTED,
    VERDICT_SCHEMA,
    LocalExcerpt,
    local_excerpt,
    too_long,
    triage_prompt,
    way_text,
)
from aria_dream.markdown.note import decode_note, parse_note

MARK = Datamark("00ff00ff00ff00ff")
GOOD = """\
---
mood: calm
---
Placement: system

<!-- {{ghost}} is not sent -->

## System

Data is between {{sentinel_open}} and {{sentinel_close}}.

## Request

{{note_a}} and {{ note_b }}
"""
UNREADABLE = "this file is no UTF-8 text; save it as UTF-8"
NEEDED = frozenset({"sentinel_open", "sentinel_close", "note_a", "note_b"})


def test_a_prompt_is_taken_apart() -> None:
    prompt, problems = parse_prompt("x", GOOD, required=NEEDED)
    assert problems == ()
    assert prompt is not None
    assert prompt.system == "## System\n\nData is between {{sentinel_open}} and {{sentinel_close}}."
    assert prompt.request == "{{note_a}} and {{ note_b }}"
    assert prompt.placeholders == NEEDED
    other, _ = parse_prompt("x", GOOD.replace("Placement: system", "Placement: user"))
    assert other is not None
    assert other.system == ""
    assert other.hash != prompt.hash


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (GOOD.replace("{{note_a}}", ""), Problem("p.md", 0, "the placeholder `{{note_a}}` is missing")),
        (GOOD.replace("note_a", "note_1"), Problem("p.md", 14, "`{{note_1}}` is no placeholder of this prompt")),
        (
            GOOD.replace("Data is", "A way is {{ way }} beside").replace("## System", "## System\n\nOf the way."),
            Problem("p.md", 12, "`{{way}}` is no placeholder of this prompt"),
        ),
        ("\ufeff \r\n", Problem("p.md", 0, "this prompt is empty")),
        (GOOD + decode_note("schön".encode("latin-1")), Problem("p.md", 0, UNREADABLE)),
        (decode_note(GOOD.encode("utf-16")), Problem("p.md", 0, UNREADABLE)),
        (GOOD.replace("## Request", "## Please"), Problem("p.md", 0, "the heading `## Request` is missing")),
        (GOOD.replace(": system", ": sytem"), Problem("p.md", 4, "`Placement` must be system or user")),
        (GOOD + "x" * 20_000, Problem("p.md", 0, "this prompt has more than 20,000 characters; shorten it")),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, problem: Problem) -> None:
    prompt, problems = parse_prompt("x", text, path="p.md", required=NEEDED)
    assert prompt is None
    assert problem in problems


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
def test_line_ends_of_any_editor(line_end: str) -> None:
    whole = parse_prompt("x", GOOD, required=NEEDED)
    assert parse_prompt("x", "\ufeff" + GOOD.replace("\n", line_end), required=NEEDED) == whole


def test_data_is_filled_in_once() -> None:
    prompt = Prompt(name="x", system="{{a}}", request="{{b}}")
    assert fill_prompt(prompt, {"a": "{{b}}", "b": "\\1 {{a}}"}) == Messages("{{b}}", "\\1 {{a}}")


def test_the_shipped_prompt_says_everything() -> None:
    prompt = shipped_prompt(PROMPT_NAME).prompt
    first, second = LocalExcerpt("Compost", "Fed often."), LocalExcerpt("Starter", "{{path}} Fed daily.")
    messages = triage_prompt(prompt, MARK, first, second, way_text(("Compost", "Rye → {{note_b}}", "Starter")))
    assert "{{" not in messages.system
    assert messages.user.count(MARK.opener) == messages.user.count(MARK.closer) == 3
    assert "│ Title: Compost\n│\n│ Fed often." in messages.user
    assert "│ {{path}} Fed daily." in messages.user
    assert "│ Compost → Rye → {{note_b}} → Starter" in messages.user
    assert way_text(None) == UNCONNECTED
    assert not too_long(messages)


def test_the_reason_comes_before_the_verdict() -> None:
    properties = VERDICT_SCHEMA["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == VERDICT_SCHEMA["required"] == ["reason", "verdict"]


def test_comments_and_properties_stay_behind() -> None:
    note = parse_note("---\nsecret: one\n---\nA %%two%% b <!-- three --> c.\n")
    assert local_excerpt("T\nitle", note) == LocalExcerpt("T itle", "A  b  c.")


def test_an_excerpt_is_bounded_even_behind_a_long_comment() -> None:
    note = parse_note("a" * 100 + "%%" + "x" * 100_000 + "%%" + "b" * 100_000)
    excerpt = local_excerpt("T", note)
    assert len(excerpt.text) == EXCERPT_LENGTH
    assert excerpt.text.startswith("a" * 100 + "b")
    prompt = shipped_prompt(PROMPT_NAME).prompt
    longest = local_excerpt("漢" * 80, parse_note("漢\n" * EXCERPT_LENGTH))
    assert 400 < len(longest.text) < EXCERPT_LENGTH
    assert not too_long(triage_prompt(prompt, MARK, longest, longest, way_text(("漢" * 60,) * 3)))
    assert too_long(Messages("x" * 30_000, ""))


def test_the_estimate_grows_with_what_is_hard_to_say() -> None:
    assert estimate_tokens("") > 0
    assert estimate_tokens("漢" * 90) > estimate_tokens("a" * 90) > estimate_tokens("a" * 30)


@pytest.mark.parametrize(
    "text",
    ["A heap is fed. ", "堆肥需要空气。", "퇴비는 공기가 ", "😀👩", "1234567890", "a\n", "{}[]();=", "<b></b>", "∑∫"],
)
def test_two_notes_of_any_script_fit_the_window(text: str) -> None:
    first, second = (local_excerpt(title, parse_note(text * 2_000)) for title in ("Compost", "堆" * 80))
    messages = triage_prompt(shipped_prompt(PROMPT_NAME).prompt, MARK, first, second, UNCONNECTED)
    assert len(first.text) >= 900
    assert not too_long(messages)
