"""The probe, with the real Codex CLI: what it shows, what it costs, and that it can fail."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.codex import codex_wall
from aria_dream.adapters.codex.codex_reacher import Elsewhere
from aria_dream.adapters.codex.reach_probe import KIND, ProbeResult, run_probe
from aria_dream.adapters.gate.consent import write_consent
from aria_dream.adapters.gate.egress import EGRESS, Gate
from aria_dream.adapters.gate.ledger import read_ledger
from aria_dream.policy.policy import parse_policy
from aria_dream.privacy.sharing import survey
from aria_dream.reach import reach_events
from tests.reaching import HOSTED, NESTED, Scene, at_server, codex_program
from tests.responses_server import ResponsesServer, message, refusal, script, search, stream, tool

if TYPE_CHECKING:
    from pathlib import Path

PAPER = "Sleep and memory\nhttps://example.org/paper"
SEARCHES = "text(await tools.web__run({search_query: [{q: 'sleep'}]}))"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    scene = Scene(folder=tmp_path).made()
    (scene.vault / "Compost.md").write_text("Compost wants air.\n", encoding="utf-8")
    write_consent(scene.state, datetime(2026, 11, 30, tzinfo=UTC))
    return scene


def probe(scene: Scene, elsewhere: Elsewhere | None) -> ProbeResult:
    gate = Gate(state=scene.state, sharing=survey([], parse_policy("")[0])[0], purpose=KIND)
    return run_probe(scene.reacher(elsewhere), gate, UTC)


@pytest.mark.parametrize(("model", "cost"), [(HOSTED, 1), (NESTED, 3)])
def test_a_probe_shows_the_wall_and_the_cost(scene: Scene, model: str, cost: int) -> None:
    looks = [stream(script(SEARCHES)), stream(message(PAPER))]
    replies = looks if model == NESTED else [stream(search("sleep"), message(PAPER))]
    with ResponsesServer(replies) as server:
        shown = probe(scene.with_settings(reach_model=model, requests_per_reach=cost + 1), at_server(server.url))
        assert len(server.metered) == cost
        assert "Compost" not in server.everything()
    assert (shown.reason, shown.holds) == ("", True)
    assert (shown.requests, shown.web_turns, shown.version) == (cost, 1, "0.171.0")
    assert shown.line == f"- requests_per_reach: {cost}"
    assert shown.answer.startswith("Sleep and memory")
    assert (shown.files, shown.left, shown.changed) == (1, (), ())
    rows = read_ledger(scene.state)[0]
    assert {row.kind for row in rows} == {"probe"}
    assert [row.requests for row in rows] == [cost + 1, cost]
    assert '"purpose": "probe"' in (scene.state / EGRESS).read_text(encoding="utf-8").replace('":"', '": "')


def test_a_probe_that_wants_more_than_was_set_aside_is_ended_and_says_what_to_do(scene: Scene) -> None:
    with ResponsesServer([stream(script(SEARCHES)), stream(message(PAPER))]) as server:
        shown = probe(scene.with_settings(reach_model=NESTED), at_server(server.url))
        assert len(server.metered) == 1
    assert "more than the one request that was set aside" in shown.reason
    assert (shown.resolution, shown.requests, shown.line) == ("aborted", 1, "")


def test_a_probe_without_the_wall_shows_that_too(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Control: the check can fail."""
    monkeypatch.setattr(reach_events, "_ACTS", ())
    flags = tuple("--sandbox=danger-full-access" if "sandbox" in flag else flag for flag in codex_wall._FLAGS)
    monkeypatch.setattr(codex_wall, "_FLAGS", flags)
    monkeypatch.setattr(codex_wall, "_OFF", tuple(name for name in codex_wall._OFF if name not in (
        "shell_tool", "unified_exec")))  # fmt: skip
    order = tool("exec_command", {"cmd": f"touch here $HOME/there; echo x >> {scene.vault}/Compost.md"})
    with ResponsesServer([stream(order), stream(search("sleep"), message(PAPER))]) as server:
        shown = probe(scene.with_settings(requests_per_reach=2), at_server(server.url))
    assert shown.left == ("scratch/here", "home/there")
    assert shown.changed == ("Compost.md",)
    assert not shown.holds


def test_one_that_did_not_search_has_not_shown_the_web(scene: Scene) -> None:
    with ResponsesServer([stream(message(PAPER))]) as server:
        shown = probe(scene, at_server(server.url))
    assert (shown.reason, shown.web_turns, shown.holds) == ("", 0, False)


def test_a_probe_that_fails_measures_nothing_and_is_spent(scene: Scene) -> None:
    with ResponsesServer([refusal(401, "invalid_request_error", "Incorrect API key")]) as server:
        shown = probe(scene, at_server(server.url))
    assert "log in" in shown.reason
    assert (shown.line, shown.resolution, shown.requests) == ("", "refused", 1)


def test_budget_confirmation_and_login_come_first(scene: Scene) -> None:
    with ResponsesServer() as server:
        elsewhere = at_server(server.url)
        assert "reach" in probe(scene.with_settings(reach_requests_per_5h=0), elsewhere).reason
        (scene.state / "consent.json").unlink()
        assert "confirmed" in probe(scene, elsewhere).reason
        write_consent(scene.state, datetime(2026, 11, 30, tzinfo=UTC))
        assert "codex login" in probe(scene, Elsewhere(program=codex_program())).reason
        assert not server.seen
    assert not read_ledger(scene.state)[0]
