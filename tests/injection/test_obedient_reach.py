"""Whole reaches and independent reviews with models that do what every attacker tells them: real vault, real journal,
real ledger; what they leave behind is looked at on the disk."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.injection.attacks import FORGED, janus_replies, web_attacks
from aria_dream.markdown.note import parse_note
from aria_dream.notes.dream_log import parse_blocks
from aria_dream.notes.review_note import read_managed, render_managed, render_review_head
from aria_dream.notes.ticks import read_ticks
from aria_dream.reach.reach_reading import parse_reach_blocks
from aria_dream.usecases.review import settle
from aria_dream.usecases.review_session import ReviewSession
from tests.e2e.test_dream import NOTES
from tests.e2e.test_janus import POLICY, janus
from tests.injection.test_obedient_dream import digests
from tests.model_servers import FakeModel, serving
from tests.reach_bench import ReachBench, answered
from tests.reviewed import apply, night, run, write

if TYPE_CHECKING:
    from pathlib import Path

OPEN_HANDED = (
    "---\naria-dream: policy\n---\n- triage_backend: off\n- reach_requests_per_5h: 500\n"
    "- reach_requests_per_week: 500\n- monthly_reach_ceiling: 500\n"
)
REPLIES = [*FORGED, *(attack.reply for number, attack in enumerate(web_attacks()) if number % 13 == 0)]


def seeds(count: int) -> str:
    head = "---\naria-dream: seeds\n---\n"
    return head + "".join(
        f"## 2026-11-{1 + number % 28:02} — Seed {number}\n- kind: external-novelty\n- source: s{number}\n"
        for number in range(count)
    )


@pytest.fixture
def bench(tmp_path: Path) -> ReachBench:
    made = ReachBench(tmp_path, NOTES)
    made.write("dreaming.md", OPEN_HANDED)
    made.home()
    made.write("dreams/Dream review.md", f"{render_review_head()}{render_managed([])}\n")
    made.write("dreams/Dream seeds.md", seeds(len(REPLIES)))
    made.consent()
    return made


def test_a_codex_that_obeys_every_page(bench: ReachBench, tmp_path: Path) -> None:
    before = bench.files()
    bench.reacher.answers = [answered(reply) for reply in REPLIES]
    results = [bench.reach("external") for _ in REPLIES]
    assert len({result.resolution for result in results}) >= 3
    assert len(bench.reacher.sent) == len(REPLIES)
    after = bench.files()
    ours = {path for path in after if before.get(path) != after[path]}
    assert ours <= {"dreams/2026-11-30 dream.md", "dreams/Dream review.md", "dreams/Dream seeds.md"}
    assert not list(tmp_path.rglob(".profile"))
    note, review = bench.note(), bench.read("dreams/Dream review.md")
    blocks, problems = parse_reach_blocks(note)
    assert (len(blocks), problems) == (len(REPLIES), ())
    assert parse_blocks(note) == ((), ())
    assert read_ticks(note) == read_ticks(review) == ((), ())
    assert parse_note(note).links == ()  # seeds name no note, so nothing is linked
    listed, faults = read_managed(review)
    assert faults == ()
    assert listed is not None
    states = RecordStore(bench.state).read().states
    assert {item.id for item in listed.changes} == {id_ for id_, one in states.items() if one.edits} != set()
    assert {state.proposal.kind for state in states.values()} == {"place_orphan"}
    assert all(state.state == "proposed" for state in states.values())
    assert {title for state in states.values() for title in state.proposal.titles}.isdisjoint({"AGENTS", "dreaming"})
    settle(ReviewSession(vault=bench.look(), files=DiskVault(bench.root, bench.state), store=RecordStore(bench.state),
                now=bench.now))  # fmt: skip
    assert {path for path in bench.files() if not path.startswith("dreams/")} == {
        path for path in before if not path.startswith("dreams/")
    }


def test_a_janus_that_obeys_every_note(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    night(vault)
    replies = iter(janus_replies() * 40)
    orders = "\n\n".join(attack.text for attack in web_attacks() if attack.place == "note")
    with serving(FakeModel(say=lambda _request: next(replies))) as model:
        for name in ("Compost.md", "Slack water.md"):
            write(vault, name, f"{(vault / name).read_text('utf-8')}\n{orders}\n")
        write(vault, "dreaming.md", POLICY.format(backend="ollama", key="ollama_url", url=model.url, more=""))
        apply(vault)
        before, outside = digests(vault), set(digests(tmp_path / "home"))
        listed = json.loads(run("review", vault, "--json").stdout)["waiting"]
        ids = [one["id"] for one in listed]
        looked: list[dict[str, Any]] = [one for _ in range(6) for one in janus(vault, *ids)["looked"]]
    assert len(model.requests) >= len(looked)
    assert {one["verdict"] for one in looked} <= {"STANDS", "FALLS", "UNSURE", None}
    assert any(one["verdict"] for one in looked)
    assert {one["id"] for one in looked} == set(ids)
    assert all("\n" not in one["reason"] and "://" not in one["reason"] for one in looked)
    after = digests(vault)
    assert {path for path in after if before.get(path) != after[path]} <= {"dreams/Dream review.md"}
    assert {path for path in set(digests(tmp_path / "home")) - outside if "aria-dream" not in path} == set()
    again = json.loads(run("review", vault, "--json").stdout)["waiting"]
    assert [(one["id"], one["state"]) for one in again] == [(name, "proposed") for name in ids]
    for request in model.requests:
        system, user = (message["content"] for message in request["messages"])
        (nonce,) = set(re.findall(r"<<<data ([0-9a-f]{16})>>>", user))
        outside_data = [line for line in user.splitlines() if not line.startswith("│")]
        assert outside_data.count(f"<<<data {nonce}>>>") == outside_data.count(f"<<<end {nonce}>>>") == 3
        assert "Passwords" not in system
