"""Janus by Codex: counted before it is asked for, let through by the gate, and given back only where nothing left."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.gate.consent import write_consent
from aria_dream.adapters.gate.egress import EGRESS, Gate
from aria_dream.adapters.gate.ledger import read_ledger
from aria_dream.adapters.index.live_policy import shipped_prompt
from aria_dream.adapters.models.independent_reviewer import NotAsked
from aria_dream.judging.triage_prompt import LocalExcerpt, Unreadable
from aria_dream.policy.policy import parse_policy
from aria_dream.privacy.sharing import ShareableExcerpt, excerpt_text, survey
from aria_dream.reach.janus import ClaimCase, Falls, LinkCase, Stands
from aria_dream.reach.reach_events import Failure, ReachEnd, ReachRun
from aria_dream.usecases.janus_codex import CodexReader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from aria_dream.adapters.gate.egress import ClearedText
    from aria_dream.adapters.gate.ledger import Granted

STANDS = '{"reason": "the pages say so", "verdict": "STANDS"}'
POLICY, _ = parse_policy(None)
SHARING, _ = survey((), POLICY)


def run_of(
    message: str = "", *, sent: bool = True, failure: Failure | None = None, requests: int = 1, stopped: str = ""
) -> ReachEnd:
    run = ReachRun(sent=sent, web_turns=0, requests=requests if sent else 0, last_message=message, failure=failure)
    return ReachEnd(run=run, stopped=stopped)


@dataclass
class Scripted:
    """A Reacher that says what it was told to, and looks at the ledger while it is asked."""

    end: ReachEnd
    state: Path
    gone: str = ""
    interrupted: bool = False
    texts: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)

    @property
    def destination(self) -> str:
        return "Codex (gpt-5.5)"

    def missing(self) -> str:
        return self.gone

    def run(self, cleared: ClearedText, granted: Granted, *, should_stop: Callable[[], str]) -> ReachEnd:
        assert should_stop() == ""
        assert granted.row.kind == "janus"
        if self.interrupted:
            raise KeyboardInterrupt
        self.texts.append(cleared.text)
        self.rows.append([row.verdict for row in read_ledger(self.state)[0]])
        return self.end


def shared(text: str, title: str = "") -> ShareableExcerpt:
    made = excerpt_text(SHARING, text, title=title)
    assert isinstance(made, ShareableExcerpt)
    return made


def claim() -> ClaimCase:
    return ClaimCase(claim=shared("Tides set clocks."), sources=shared("https://a.example/tides"))


def reader(state: Path, end: ReachEnd, *, consent: bool = True, policy: str | None = None) -> CodexReader:
    settings = parse_policy(policy)[0].settings
    state.mkdir(parents=True, exist_ok=True)
    if consent:
        write_consent(state, datetime.now(UTC))
    return CodexReader(
        reacher=Scripted(end, state), prompt=shipped_prompt("janus").prompt,
        gate=Gate(state=state, sharing=SHARING, purpose="janus"), state=state, settings=settings, zone=UTC,
    )  # fmt: skip


def verdicts(state: Path) -> list[str]:
    return [row.verdict for row in read_ledger(state)[0]]


def asked(one: CodexReader) -> Scripted:
    assert isinstance(one.reacher, Scripted)
    return one.reacher


def test_a_verdict_is_counted_before_and_resolved_after(tmp_path: Path) -> None:
    one = reader(tmp_path, run_of(STANDS, requests=3))
    assert one.read(claim()) == Stands("the pages say so")
    assert asked(one).rows == [["initiated"]]
    assert verdicts(tmp_path) == ["initiated", "excess", "stands"]
    (text,) = asked(one).texts
    assert "Tides set clocks." in text
    assert "You may open these pages" in text
    (row,) = [json.loads(line) for line in (tmp_path / EGRESS).read_text().splitlines()]
    assert (row["purpose"], row["destination"], len(row["excerpts"])) == ("janus", "Codex (gpt-5.5)", 2)
    assert row["characters"] == len(text)


@pytest.mark.parametrize(
    ("end", "row", "expected"),
    [
        (run_of('{"reason": "r", "verdict": "FALLS"}'), "falls", Falls),
        (run_of("I would say it stands."), "unparsed", Unreadable),
        (run_of(failure=Failure("unreachable", "Connection failed:"), sent=False), "unsent", NotAsked),
        (run_of(failure=Failure("login", "unexpected status 401")), "refused", NotAsked),
        (run_of(failure=Failure("usage limit", "hit your usage limit")), "refused", NotAsked),
        (run_of(failure=Failure("cut", "stream disconnected")), "failed", NotAsked),
        (run_of(STANDS, stopped="you are back"), "aborted", NotAsked),
    ],
)
def test_every_end_has_its_row(tmp_path: Path, end: ReachEnd, row: str, expected: type) -> None:
    one = reader(tmp_path, end)
    found = one.read(claim())
    assert isinstance(found, expected)
    assert verdicts(tmp_path) == ["initiated", row]
    if isinstance(found, NotAsked):
        assert found.ends


def test_a_run_that_breaks_the_program_stays_counted(tmp_path: Path) -> None:
    one = reader(tmp_path, run_of(STANDS))
    asked(one).interrupted = True
    with pytest.raises(KeyboardInterrupt):
        one.read(claim())
    assert verdicts(tmp_path) == ["initiated"]


def test_without_confirmation_nothing_is_counted_or_logged(tmp_path: Path) -> None:
    one = reader(tmp_path, run_of(STANDS), consent=False)
    found = one.read(claim())
    assert isinstance(found, NotAsked)
    assert "nobody confirmed" in found.reason
    assert (verdicts(tmp_path), asked(one).texts, (tmp_path / EGRESS).exists()) == ([], [], False)


def test_a_program_that_is_missing_costs_nothing(tmp_path: Path) -> None:
    one = reader(tmp_path, run_of(STANDS))
    asked(one).gone = "Codex is not installed"
    assert one.read(claim()) == NotAsked("Codex is not installed", ends=True)
    assert verdicts(tmp_path) == []


def test_the_budget_is_the_reachs(tmp_path: Path) -> None:
    one = reader(tmp_path, run_of(STANDS))
    found = [one.read(claim()) for _ in range(3)]
    assert [type(each) for each in found] == [Stands, Stands, NotAsked]
    assert "of the last 5 hours are spent" in getattr(found[2], "reason", "")
    assert len(asked(one).texts) == 2


def test_only_shareable_parts_go_out(tmp_path: Path) -> None:
    one = reader(tmp_path, run_of(STANDS))
    local = LinkCase(first=LocalExcerpt("A", "a"), second=shared("b", "B"), edge=shared(""))
    for call in (one.read, one.text_of):
        with pytest.raises(TypeError):
            call(local)
    assert (verdicts(tmp_path), asked(one).texts, (tmp_path / EGRESS).exists()) == ([], [], False)
