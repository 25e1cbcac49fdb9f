"""`aria-dream reach` from the command to the dream note, through the real Codex CLI and a server on this machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from aria_dream.adapters.codex.codex_reacher import CodexReacher
from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.gate.ledger import read_ledger
from aria_dream.cli import main, reach
from aria_dream.reach.reach import Answer
from aria_dream.reach.reach_reading import parse_reach_blocks
from tests.e2e.test_dream import NOTES
from tests.reach_bench import HOMES, ORPHAN, POLICY, SEEDS
from tests.reaching import NESTED, at_server
from tests.responses_server import Reply, ResponsesServer, message, refusal, script, search, stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aria_dream.adapters.disk.places import Places
    from aria_dream.adapters.index.dreamt_vault import DreamtVault

CANARY = "Zibetkatzenkanarie"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    own = {"dreams/Dream review.md": "---\naria-dream: review\n---\n", "dreams/Dream seeds.md": SEEDS}
    private = {"Diary.md": f"#private\n{CANARY} at night. [[Compost]] [[Microbes]]\n"}
    for name, text in {**NOTES, **own, **private, "dreaming.md": POLICY}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ResponsesServer]:
    with ResponsesServer([]) as made:

        def open_reacher(vault: DreamtVault, places: Places) -> CodexReacher:
            settings = vault.live.policy.settings
            return CodexReacher(
                vault=vault.root, state=places.state, settings=settings, elsewhere=at_server(made.url)
            )

        monkeypatch.setattr(reach, "open_reacher", open_reacher)
        yield made


def run(*words: str | Path) -> str:
    done = CliRunner().invoke(main, [*map(str, words)])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def said(*words: str | Path) -> dict[str, Any]:
    found = json.loads(run(*words, "--json"))
    assert isinstance(found, dict)
    return found


def snapshot(vault: Path) -> dict[str, bytes]:
    return {path.relative_to(vault).as_posix(): path.read_bytes() for path in vault.rglob("*") if path.is_file()}


@pytest.mark.parametrize("model", ["gpt-5.5", NESTED])
def test_a_pair_from_the_dream_to_the_block(vault: Path, server: ResponsesServer, model: str) -> None:
    cost = "- requests_per_reach: 3\n- reach_requests_per_5h: 3\n" if model == NESTED else ""
    (vault / "dreaming.md").write_text(f"{POLICY}- reach_model: {model}\n{cost}", encoding="utf-8")
    dreamt = said("dream", vault, "--start", "Compost", "--seed", "4")
    searches = "text(await tools.web__run({search_query: [{q: 'cultures'}]}))"
    looks = [stream(script(searches)), stream(message(HOMES))]
    server.replies = looks if model == NESTED else [stream(search("cultures"), message(HOMES))]
    before = snapshot(vault)
    found = said("reach", vault, "--internal", "--consent")
    assert found["resolution"] == "homes"
    assert found["answer"]["edge"] == "fed cultures"
    assert found["answer"]["sources"] == [{"url": "https://example.org/cultures", "title": None}]
    assert found["destination"] == f"Codex ({model})"
    assert found["budget"]["spent"]["in_week"] == len(server.metered)
    after = snapshot(vault)
    assert {name for name in after if after[name] != before.get(name)} == {dreamt["note"]}
    assert after[dreamt["note"]].startswith(before[dreamt["note"]])
    (block,) = parse_reach_blocks(after[dreamt["note"]].decode())[0]
    assert isinstance(block.outcome, Answer)
    assert dreamt["pairs"][0]["to"].removesuffix(".md") in found["subject"]
    assert "kitchen waste becomes soil" in server.metered[0].body
    assert CANARY not in server.everything()
    assert "Diary" not in server.metered[0].body


@pytest.mark.parametrize(
    ("reply", "resolution", "spent"),
    [
        (stream(message(ORPHAN)), "orphan", 1),
        (stream(message("Hard to say.")), "unparsed", 1),
        (refusal(401, "invalid_request_error", "bad key"), "refused", 1),
        (Reply(status=500, body=b"{}"), "failed", 1),  # which Codex CLI takes for high demand
        (Reply(events=(message(ORPHAN),), cut=True), "failed", 1),
    ],
)
def test_every_end_has_its_row_its_block_and_exit_code_0(
    vault: Path, server: ResponsesServer, reply: Reply, resolution: str, spent: int
) -> None:
    server.replies = [reply]
    found = said("reach", vault, "--external", "--consent")
    assert found["resolution"] == resolution
    assert found["budget"]["spent"]["in_5h"] == spent == len(server.metered)
    rows, problems = read_ledger(find_places().state)
    assert not problems
    assert [row.verdict for row in rows] == ["initiated", resolution]
    text = (vault / found["note"]).read_text(encoding="utf-8")
    assert len(parse_reach_blocks(text)[0]) == 1
    flipped = "status: dreamt" in (vault / "dreams/Dream seeds.md").read_text(encoding="utf-8")
    assert flipped == (resolution == "orphan")


def test_a_usage_limit_rests_until_its_reset(vault: Path, server: ResponsesServer) -> None:
    limit = refusal(429, "usage_limit_reached", "The usage limit has been reached", resets_in_seconds=7200)
    server.replies = [limit]
    found = said("reach", vault, "--external", "--consent")
    assert found["resolution"] == "refused"
    again = said("reach", vault, "--external")
    assert again["reason"].startswith("the reach rests until")
    assert len(server.metered) == 1
    assert "rests until" in run("status", vault)


def test_nobody_answers_at_the_address(vault: Path, server: ResponsesServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def open_reacher(vault: DreamtVault, places: Places) -> CodexReacher:
        return CodexReacher(vault=vault.root, state=places.state, settings=vault.live.policy.settings,
                            elsewhere=at_server("http://127.0.0.1:9"))  # fmt: skip

    monkeypatch.setattr(reach, "open_reacher", open_reacher)
    found = said("reach", vault, "--external", "--consent")
    assert found["resolution"] == "unsent"
    assert found["budget"]["spent"]["in_5h"] == 0
    assert "nothing was sent" in (vault / found["note"]).read_text(encoding="utf-8")


def test_the_probe_shows_the_wall_and_its_line(vault: Path, server: ResponsesServer) -> None:
    server.replies = [stream(search("sleep"), message("Sleep and memory\nhttps://example.org/paper"))]
    shown = run("reach", vault, "--probe", "--consent")
    assert "Written: nothing." in shown
    assert "  - requests_per_reach: 1\n" in shown
    assert shown.splitlines()[-1].startswith("reach (probe): the wall holds. Requests left: 1 of 2")
    found = said("reach", vault, "--probe")
    assert (found["holds"], found["line"]) == (True, "- requests_per_reach: 1")
    assert "2 of 2 requests" in said("reach", vault, "--probe")["reason"]
