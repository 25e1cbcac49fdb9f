"""`aria-dream janus` as a person runs it: real vault, real command, a scripted model behind a real socket."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from aria_dream.adapters.gate.egress import EGRESS
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.review.proposal import Proposal, event_record, proposal_id
from tests.model_servers import FakeModel, serving
from tests.reviewed import COMPOST, NOTES, SLACK, apply, id_of, night, run, state_folder, states, write

if TYPE_CHECKING:
    from collections.abc import Iterator

STANDS = '{"reason": "the feeding is the same act in both", "verdict": "STANDS"}'
FALLS = '{"reason": "they share a word and no thought", "verdict": "FALLS"}'
POLICY = "---\naria-dream: policy\n---\n- triage_backend: {backend}\n- triage_model: judge\n- {key}: {url}\n{more}"
CANARY = "zanzibarquokka"
"""A word that only the dream holds."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with serving(FakeModel(say=lambda _request: STANDS)) as found:
        yield found


def vault_of(tmp_path: Path, url: str, *, more: str = "", backend: str = "ollama") -> Path:
    vault = tmp_path / "vault"
    night(vault)
    key = "triage_url" if backend == "openai" else "ollama_url"
    write(vault, "dreaming.md", POLICY.format(backend=backend, key=key, url=url, more=more))
    apply(vault)  # takes the night's proposals over into the journal
    return vault


def janus(vault: Path, *words: str) -> dict[str, Any]:
    found = json.loads(run("janus", vault, *words, "--json").stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("backend", ["ollama", "openai"])
def test_every_open_proposal_is_looked_at_once(tmp_path: Path, home: Path, model: FakeModel, backend: str) -> None:
    vault = vault_of(tmp_path, model.url, backend=backend)
    model.say = lambda request: FALLS if "Slack water" in str(request) else STANDS
    before = {name: (vault / name).read_bytes() for name in NOTES}
    found = janus(vault)
    assert {one["id"]: one["verdict"] for one in found["looked"]} == {id_of(COMPOST): "STANDS", id_of(SLACK): "FALLS"}
    state = states(home)[id_of(COMPOST)]
    assert (state.state, state.janus, state.janus_reason) == (
        "proposed", "STANDS", "the feeding is the same act in both",
    )  # fmt: skip
    assert {name: (vault / name).read_bytes() for name in NOTES} == before
    asked = len(model.requests)
    assert janus(vault)["reason"] == "nothing waits for an independent review"
    assert len(model.requests) == asked == 2
    janus(vault, id_of(SLACK))  # by its id, a second time
    assert len(model.requests) == 3
    review = (vault / "dreams" / "Dream review.md").read_text("utf-8")
    assert "  Janus: STANDS, the feeding is the same act in both\n" in review
    assert "  Janus: FALLS, they share a word and no thought\n" in review
    said = run("review", vault).stdout
    assert "Janus: STANDS, the feeding is the same act in both" in said
    assert "Janus: FALLS, they share a word and no thought" in run("history", vault).stdout
    listed = {one["id"]: one for one in json.loads(run("review", vault, "--json").stdout)["waiting"]}
    assert listed[id_of(COMPOST)]["janus"] == "STANDS"
    assert listed[id_of(COMPOST)]["janus_reason"] == "the feeding is the same act in both"
    records = [json.loads(line) for line in (state_folder(home) / "proposals.jsonl").read_text().splitlines()]
    assert {record["judge"] for record in records if record["event"] == "janus"} == {
        model.models[0]["name"].partition(":")[0] if backend == "ollama" else "judge:latest"
    }


def test_no_word_of_the_dream_reaches_janus(tmp_path: Path, home: Path, model: FakeModel) -> None:
    """Canaries in everything that a dream, a reach or an earlier Janus left: none is in any request."""
    vault = vault_of(tmp_path, model.url)
    write(vault, f"{CANARY} between.md", "A note on the way.\n")
    for path in vault.glob("dreams/* dream.md"):
        path.write_text(path.read_text("utf-8") + f"\nI thought of {CANARY} when I read this.\n", encoding="utf-8")
    store, at = RecordStore(state_folder(home)), datetime.now(UTC)
    secrets = {
        "reason": f"reason {CANARY}", "judge": f"judge {CANARY}", "way": ("Tides.md", f"{CANARY} between.md"),
        "episode": CANARY, "score": 0.12345, "confidence": 0.54321, "titles": ("Tides", "Compost"),
    }  # fmt: skip
    pair = ("Tides.md", "Compost.md")
    evidence = {
        "argument": [f"argument {CANARY}"], "sources": [{"url": f"https://{CANARY}.example/", "title": CANARY}],
        "note": f"dreams/{CANARY}.md", "edge": "turns like", "words": [CANARY], CANARY: 1,
    }  # fmt: skip
    claim = {**evidence, "claim": "Tides keep time.", "subject": CANARY, "sources": [{"url": "https://a.example/t"}]}
    orphan = (f"{CANARY}.md",)
    for kind, paths, proof in (("link", pair, evidence), ("place_orphan", orphan, claim)):
        made: dict[str, Any] = {**secrets, "kind": kind, "paths": paths, "evidence": proof}
        made["titles"] = tuple(Path(path).stem for path in paths)
        name = proposal_id(made["kind"], paths, 0)
        store.propose([Proposal(id=name, round=0, at=at, expires_at=None, **made)])
        store.note(event_record("janus", name, at, verdict="FALLS", reason=f"earlier {CANARY}"))
    found = janus(vault, proposal_id("link", pair, 0), proposal_id("place_orphan", orphan, 0))
    assert [one["verdict"] for one in found["looked"]] == ["STANDS", "STANDS"]
    assert len(model.requests) == 2
    for request in model.requests:
        text = json.dumps(request, ensure_ascii=False).casefold()
        assert CANARY not in text
        assert not [figure for figure in ("0.12345", "0.54321", "argument", "falls_", "idle dream") if figure in text]
    first, second = model.prompts
    assert "turns like" in first
    assert NOTES["Tides.md"].strip() in first
    assert "Tides keep time." in second
    assert "https://a.example/t" in second


def test_what_cannot_be_read_is_said_and_not_noted(tmp_path: Path, home: Path, model: FakeModel) -> None:
    vault = vault_of(tmp_path, model.url)
    model.say = lambda _request: "It certainly stands."
    found = janus(vault, id_of(COMPOST))
    assert found["looked"][0]["verdict"] is None
    assert found["looked"][0]["reason"] == "the answer holds no JSON object"
    assert states(home)[id_of(COMPOST)].janus == ""
    assert len(model.requests) == 1


def test_a_private_note_is_dreamt_here_and_hidden_ones_are_not_shown(tmp_path: Path, model: FakeModel) -> None:
    vault = vault_of(tmp_path, model.url)
    write(vault, "Compost.md", "---\ndream: false\n---\nA heap is fed like a sourdough starter.\n")
    found = janus(vault, id_of(COMPOST))
    assert found["looked"][0]["verdict"] is None
    assert found["looked"][0]["reason"] == "a note of it is gone, or hidden by the policy"
    assert model.requests == []


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("- janus_backend: off\n", "`janus_backend` is off"),
        ("- janus_backend: perhaps\n", "`janus_backend` is off"),
    ],
)
def test_off_and_in_doubt_ask_nobody(tmp_path: Path, model: FakeModel, more: str, expected: str) -> None:
    vault = vault_of(tmp_path, model.url, more=more)
    done = run("janus", vault)
    assert expected in done.stdout
    assert model.requests == []


def test_without_a_model_it_says_so_and_ends_well(tmp_path: Path) -> None:
    with serving() as gone:
        pass
    vault = vault_of(tmp_path, gone.url)
    done = run("janus", vault)
    assert done.returncode == 0
    assert re.fullmatch(
        r"No independent review: Ollama does not answer at \S+; Janus needs a language model.*\.\n", done.stdout
    )


def test_a_server_that_dies_ends_the_looking(tmp_path: Path, home: Path, model: FakeModel) -> None:
    vault = vault_of(tmp_path, model.url)
    model.status = 401
    found = janus(vault)
    assert [one["reason"] for one in found["looked"]] == ["Ollama wants a login"] * 2
    assert len(model.requests) == 1
    assert all(not state.janus for state in states(home).values())


def test_a_rehearsal_shows_the_text_and_asks_nobody(tmp_path: Path, home: Path, model: FakeModel) -> None:
    vault = vault_of(tmp_path, model.url)
    said = run("janus", vault, id_of(COMPOST), "--dry-run").stdout
    assert "│ A link from “Compost” to “Sourdough starter”." in said
    assert "A rehearsal: nothing was asked" in said
    assert model.requests == []
    assert not (home / "state" / "aria-dream" / EGRESS).exists()


def test_codex_that_is_not_there_costs_nothing_and_can_be_rehearsed(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    vault = vault_of(tmp_path, "http://127.0.0.1:1", more="- janus_backend: codex\n")
    write(vault, "Sourdough starter.md", "Ask Anna (anna@example.org) about flour.\n")
    said = run("janus", vault).stdout
    assert said.startswith("No independent review: ")
    assert "Codex" in said
    shown = run("janus", vault, id_of(COMPOST), "--dry-run").stdout
    assert "Codex (gpt-5.5), on another machine, would be asked:" in shown
    assert "about flour" in shown
    assert "anna@example.org" not in shown
    account = home / "state" / "aria-dream"
    assert not [name for name in (EGRESS, "reach-ledger.tsv") if (account / name).exists()]


def test_an_unknown_id_is_an_error(tmp_path: Path, model: FakeModel) -> None:
    vault = vault_of(tmp_path, model.url)
    assert run("janus", vault, "zzzzzz", check=False).returncode == 4


def test_a_merge_of_the_night_is_looked_at_by_its_notes_alone(tmp_path: Path, home: Path, model: FakeModel) -> None:
    """The real night finds the copy; Janus sees both notes and neither a score nor why the judge found them alike."""
    vault = tmp_path / "vault"
    text = "Turn the heap once a week, keep it as moist as a wrung sponge, and feed it little and often. " * 3
    copies = {"Heap.md": f"# Heap\n{text}\n", "Copy of heap.md": f"# Heap\n{text}\n"}
    policy = POLICY.format(backend="ollama", key="ollama_url", url=model.url, more="")
    inside = policy.replace("triage_backend: ollama", "triage_backend: embedded")
    for name, body in {**NOTES, **copies, "dreaming.md": inside}.items():
        write(vault, name, body)
    run("consolidate", vault)
    found = RecordStore(state_folder(home)).read().states.values()
    (merge,) = [state for state in found if state.proposal.kind == "merge"]
    write(vault, "dreaming.md", policy)
    model.say = lambda _request: FALLS
    (looked,) = [one for one in janus(vault)["looked"] if one["kind"] == "merge"]
    assert (looked["id"], looked["verdict"]) == (merge.proposal.id, "FALLS")
    sent = model.prompts[-1]
    assert "A merge: “" in sent
    assert sent.count("moist as a wrung sponge") == 6
    for number in (merge.proposal.score, merge.proposal.confidence):
        assert f"{number}" not in sent
    assert merge.proposal.reason not in sent
    review = (vault / "dreams/Dream review.md").read_text(encoding="utf-8")
    assert "Janus: FALLS, they share a word and no thought" in review
