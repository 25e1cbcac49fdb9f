"""Who may decide: the operator, in words that say where. Nothing is inferred."""

from __future__ import annotations

from datetime import datetime

import pytest

from aria_dream.synthesis.entry import render_log_head, render_status
from aria_dream.synthesis.log_text import current_status, find_status_changes, visible
from aria_dream.synthesis.operator_evidence import evidence_refusal, step_refusal


@pytest.mark.parametrize(
    "evidence",
    [
        "operator chat 2026-11-30 14:05: approve ni-20261130-01", "Anna in the standup: go ahead with it",
        "https://example.org/thread/4#c7", "memory/SESSION_LOG.md:88", "Slack #ops: approve it as it is",
        "voice memo of this morning, Anna", "signed letter from Anna", "e-mail from A. B., 30 November",
        "operator message 4711: let the agent do it",
    ],
)  # fmt: skip
def test_direct_evidence(evidence: str) -> None:
    assert evidence_refusal(evidence) == ""


@pytest.mark.parametrize(
    "evidence",
    [
        "", "yes", "approved", "ok", "        ", "chat 12", "yes yes yes yes", "operator approved",
        "the operator said yes",
        "looks good to me", "approved by the operator", "ni-20261130-01 approved", "LGTM, go ahead please",
        "no objection in the chat of 2026-11-30", "silence on Slack since 2026-11-29", "CI is green on #41",
        "the agent approved it in session 12", "another agent in session 12", "merged by the bot in PR 12",
        "auto-approved in run 12", "presumably fine, see chat 12", "DREAM_LOG.md, entry of 2026-11-29",
        "implied by the message of 2026-11-30",
    ],
)  # fmt: skip
def test_what_is_no_direct_evidence(evidence: str) -> None:
    assert evidence_refusal(evidence)


@pytest.mark.parametrize(
    ("status", "evidence"),
    [
        ("approved", "chat 2026-12-01, Anna: no, do not do this"), ("approved", "aaaaaaaa1"),
        ("approved", "x 1 y 2 z 3"),
        ("approved", "#1234567"), ("merged", "Chat vom 2026-12-01, Anna: lieber nicht"),
        ("approved", "mail du 2026-12-01: je refuse"), ("rejected", "chat 2026-12-01, Anna: yes, go ahead"),
    ],
)  # fmt: skip
def test_words_that_say_the_opposite_are_no_evidence(status: str, evidence: str) -> None:
    assert evidence_refusal(evidence, status)


@pytest.mark.parametrize(
    ("was", "status", "fits"),
    [
        ("proposed", "approved", True), ("proposed", "merged", False), ("approved", "merged", True),
        ("merged", "rejected", False),
    ],
)  # fmt: skip
def test_steps_follow_their_order(was: str, status: str, *, fits: bool) -> None:
    assert (step_refusal(was, status) == "") is fits


def test_the_last_status_counts_and_examples_do_not() -> None:
    at = datetime(2026, 11, 30, 9, 20)  # noqa: DTZ001 - local time, as the block shows it
    block = "### ni-20261129-01 - x\n- **status:** proposed\n"
    said = "chat of 2026-11-30: `as is` | %% [[x]]"
    changes = [render_status("ni-20261129-01", to, was, said, at) for to, was in
               (("approved", "proposed"), ("merged", "approved"))]  # fmt: skip
    fenced = f"```\n{render_status('ni-20261129-01', 'blocked', 'merged', said, at)}```\n"
    shown = visible("\n".join([render_log_head(), block, *changes, fenced]))
    assert current_status(shown) == {"ni-20261129-01": "merged"}
    first, second = find_status_changes(shown)
    assert (first.status, second.status) == ("approved", "merged")
    assert evidence_refusal(first.operator_evidence) == ""
