"""The gates before a text leaves through Codex, in their order; whatever stops in between gives the request back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.gate.authorised_send import AuthorisedSend, send_authorised
from aria_dream.adapters.gate.consent import CONSENT, write_consent
from aria_dream.adapters.gate.egress import EGRESS, Gate, Turned
from aria_dream.adapters.gate.ledger import read_ledger
from aria_dream.errors import WriteRefusedError
from aria_dream.policy.policy import parse_policy
from aria_dream.privacy.sharing import survey
from aria_dream.reach.budget import BudgetRefusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from aria_dream.adapters.gate.ledger import Granted

NOW = datetime(2026, 11, 30, 14, 32, tzinfo=UTC)


def tried(
    state: Path, begin: Callable[[Granted], object], line: str = ""
) -> AuthorisedSend[object] | BudgetRefusal | Turned:
    policy, _ = parse_policy(line)
    gate = Gate(state=state, sharing=survey([], policy)[0], purpose="reach", now=lambda: NOW)
    return send_authorised(
        gate, policy.settings, UTC, kind="internal", destination="Codex (m)", excerpts=(), text="hello", begin=begin,
        clock=lambda: NOW,
    )  # fmt: skip


def verdicts(state: Path) -> list[str]:
    return [row.verdict for row in read_ledger(state)[0]]


def test_row_and_log_are_on_the_disk_before_anything_is_begun(tmp_path: Path) -> None:
    write_consent(tmp_path, NOW)
    seen: list[object] = []

    def begin(granted: Granted) -> str:
        seen.extend([verdicts(tmp_path), (tmp_path / EGRESS).read_text(encoding="utf-8").count("sha256")])
        return granted.row.id

    out = tried(tmp_path, begin)
    assert isinstance(out, AuthorisedSend)
    assert (out.begun, out.cleared.text) == (out.granted.row.id, "hello")
    assert seen == [["initiated"], 1]
    assert verdicts(tmp_path) == ["initiated"]


def test_a_shut_gate_and_a_spent_budget_begin_nothing_and_count_nothing(tmp_path: Path) -> None:
    def begin(_granted: Granted) -> None:
        raise AssertionError("nothing may be begun")

    assert isinstance(tried(tmp_path, begin), Turned)  # nobody confirmed
    assert verdicts(tmp_path) == ["initiated", "unsent"]
    write_consent(tmp_path, NOW)
    assert isinstance(tried(tmp_path, begin, "- reach_requests_per_5h: 0\n"), BudgetRefusal)
    assert verdicts(tmp_path) == ["initiated", "unsent"]
    assert not (tmp_path / EGRESS).exists()
    assert (tmp_path / CONSENT).exists()


@pytest.mark.parametrize("where", ["log", "begin"])
def test_what_cannot_be_noted_gives_the_request_back(tmp_path: Path, where: str) -> None:
    write_consent(tmp_path, NOW)

    def begin(_granted: Granted) -> None:
        raise WriteRefusedError("the disk is full")

    if where == "log":
        (tmp_path / EGRESS).mkdir()
    with pytest.raises(WriteRefusedError):
        tried(tmp_path, begin)
    assert verdicts(tmp_path) == ["initiated", "unsent"]


def test_a_crash_in_between_stays_counted(tmp_path: Path) -> None:
    write_consent(tmp_path, NOW)

    def begin(_granted: Granted) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tried(tmp_path, begin)
    assert verdicts(tmp_path) == ["initiated"]
