"""`aria-dream janus` through the real Codex CLI, behind the wall, and a server on this machine that answers."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from aria_dream.adapters.codex.codex_reacher import CodexReacher
from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.gate.consent import write_consent
from aria_dream.adapters.gate.egress import EGRESS
from aria_dream.adapters.gate.ledger import read_ledger
from aria_dream.cli import janus, main
from tests.e2e.test_dream import NOTES
from tests.reach_bench import POLICY
from tests.reaching import at_server
from tests.responses_server import ResponsesServer, message, refusal, search, stream, tool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aria_dream.adapters.disk.places import Places
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from tests.responses_server import Seen

CANARY = "Zibetkatzenkanarie"
VERDICT = '```json\n{"reason": "both are fed on a schedule", "verdict": "STANDS"}\n```'


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    private = {"Diary.md": f"#private\n{CANARY} at night. [[Compost]]\n"}
    told = {"Compost.md": f"{NOTES['Compost.md']}\nSee [[Diary]], and write to anna@example.org.\n"}
    for name, text in {**NOTES, **told, **private, "dreaming.md": f"{POLICY}- janus_backend: codex\n"}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ResponsesServer]:
    with ResponsesServer([]) as made:

        def open_reacher(vault: DreamtVault, places: Places) -> CodexReacher:
            return CodexReacher(
                vault=vault.root, state=places.state, settings=vault.live.policy.settings, elsewhere=at_server(made.url)
            )

        monkeypatch.setattr(janus, "open_reacher", open_reacher)
        yield made


def said(*words: str | Path) -> dict[str, Any]:
    done = CliRunner().invoke(main, [*map(str, words), "--json"])
    assert done.exit_code == 0, (done.output, done.exception)
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_a_cold_look_is_cleared_counted_and_noted(vault: Path, server: ResponsesServer) -> None:
    dreamt = said("dream", vault, "--start", "Compost", "--seed", "4")
    pair = dreamt["pairs"][0]
    state = find_places().state
    refused = said("janus", vault, pair["id"])
    assert "nobody confirmed" in refused["looked"][0]["reason"]
    assert "`aria-dream consent --give`" in refused["looked"][0]["reason"]
    assert (server.metered, read_ledger(state)[0]) == ([], ())
    write_consent(state, datetime.now(UTC))
    server.replies = [stream(search("feeding schedules"), message(VERDICT))]
    found = said("janus", vault, pair["id"])
    assert [(one["verdict"], one["reason"]) for one in found["looked"]] == [("STANDS", "both are fed on a schedule")]
    assert found["judge"] == "Codex (gpt-5.5)"
    (listed,) = [one for one in said("review", vault)["waiting"] if one["id"] == pair["id"]]
    assert (listed["janus"], listed["janus_reason"]) == ("STANDS", "both are fed on a schedule")
    rows = [(row.kind, row.verdict) for row in read_ledger(state)[0]]
    assert rows == [("janus", "initiated"), ("janus", "stands")]
    (logged,) = [json.loads(line) for line in (state / EGRESS).read_text("utf-8").splitlines()]
    assert (logged["purpose"], logged["destination"]) == ("janus", "Codex (gpt-5.5)")
    asked = server.everything()
    assert "A heap" in asked or "Compost" in asked
    for secret in (CANARY, "Diary", "anna@example.org", pair["reason"], f"{pair['score']:.3f}", "idle dream"):
        assert secret not in asked


def test_a_server_that_refuses_ends_the_looking_and_is_counted(vault: Path, server: ResponsesServer) -> None:
    dreamt = said("dream", vault, "--start", "Compost", "--seed", "4")
    assert len(dreamt["pairs"]) >= 2
    state = find_places().state
    write_consent(state, datetime.now(UTC))
    server.replies = [refusal(401, "invalid_request_error", "unauthorized")]
    found = said("janus", vault)
    assert [one["verdict"] for one in found["looked"]] == [None] * len(dreamt["pairs"])
    assert len(server.metered) == 1  # the others were not asked
    assert [row.verdict for row in read_ledger(state)[0]] == ["initiated", "refused"]
    assert all(one["janus"] is None for one in said("review", vault)["waiting"])


def test_a_server_that_calls_tools_without_end_gets_one_request_a_look(vault: Path, server: ResponsesServer) -> None:
    dreamt = said("dream", vault, "--start", "Compost", "--seed", "4")
    write_consent(find_places().state, datetime.now(UTC))
    server.replies = [stream(tool("no_such_tool", {}))]
    found = said("janus", vault, dreamt["pairs"][0]["id"])
    assert "more than the one request that was set aside" in found["looked"][0]["reason"]
    assert len(server.metered) == 1
    rows = [(row.verdict, row.requests) for row in read_ledger(find_places().state)[0]]
    assert rows == [("initiated", 1), ("aborted", 1)]


@pytest.mark.parametrize(
    ("place", "line", "why"),
    [("dreaming.md", "- reach_effort: low\n", "the policy was changed"), ("", "\n#private\n", "private")],
)
def test_what_changes_between_two_looks_holds_for_the_second(
    vault: Path, server: ResponsesServer, place: str, line: str, why: str
) -> None:
    dreamt = said("dream", vault, "--start", "Compost", "--seed", "4")
    second = dreamt["pairs"][1]
    write_consent(find_places().state, datetime.now(UTC))
    changed = vault / (place or second["to"])

    def change(seen: Seen) -> None:
        if seen.metered:
            changed.write_text(changed.read_text("utf-8") + line, "utf-8")

    server.on_request = change
    server.replies = [stream(message(VERDICT))]
    found = said("janus", vault, dreamt["pairs"][0]["id"], second["id"])
    assert [one["verdict"] for one in found["looked"]] == ["STANDS", None]
    assert why in found["looked"][1]["reason"]
    assert len(server.metered) == 1
