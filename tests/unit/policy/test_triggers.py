"""How `triggers.md` is read: the same doubts close."""

from __future__ import annotations

import pytest

from aria_dream.policy.triggers import (
    MEANINGS,
    Stage,
    Triggers,
    is_triggers_note,
    parse_triggers,
    render_triggers_note,
    unbuilt,
)


def test_the_rendered_note_is_the_defaults() -> None:
    text = render_triggers_note()
    assert parse_triggers(text) == (Triggers(), ())
    assert is_triggers_note("Triggers.md", text)
    assert not is_triggers_note("triggers.md", "# triggers of my migraine")


def test_absent_is_default_and_none_is_nothing() -> None:
    assert parse_triggers(None) == (Triggers(), ())
    found, problems = parse_triggers("- on_idle: none   # not now\n- on_seed: Dream, synthesize\n")
    assert problems == ()
    assert found == Triggers(on_idle=(), on_seed=(Stage.DREAM, Stage.SYNTHESIZE))


@pytest.mark.parametrize(
    "text",
    [
        "- on_idle: dreams\n",
        "- on_idle:\n",
        "- on_idle: none, dream\n",
        "- on_idle: dream\n- on_idle: none\n",
        "- On_idle: dream\n",
        "- on-idle: dream\n",
        "- on_idel: dream\n",
        "---\non_idle: dream\n---\n",
        "```\n- on_idle: dream\n",
    ],
)
def test_doubt_starts_nothing(text: str) -> None:
    found, problems = parse_triggers("\n" + text if not text.startswith("---") else text)
    assert found.on_idle == ()
    assert found.closed == ("on_idle",)
    assert len(problems) == 1
    assert problems[0].line >= 2
    assert found.on_seed == (Stage.DREAM,)


def test_an_unknown_occasion_is_reported() -> None:
    found, problems = parse_triggers("- when_it_rains: dream\n")
    assert found == Triggers()
    assert [problem.line for problem in problems] == [1]


def test_examples_do_not_count() -> None:
    assert parse_triggers("> - on_idle: none\n\n```\n- on_start: reach\n```\non_seed: none\n") == (Triggers(), ())


def test_text_that_is_no_utf8_starts_nothing() -> None:
    found, problems = parse_triggers("\x00o\x00n")
    assert problems
    assert found.closed == tuple(MEANINGS)


def test_stages_that_do_not_exist_yet_are_named() -> None:
    assert unbuilt(Triggers()) == ()
    assert unbuilt(Triggers(on_idle=(Stage.REACH, Stage.DREAM))) == ("reach",)
