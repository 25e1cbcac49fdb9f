"""`aria-dream consolidate` as it is run: a vault with a copy in it, its morning, and every early end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from aria_dream.adapters.disk.lock import consolidation_lock
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.consolidate.record import End
from aria_dream.errors import NotFoundError
from tests.model_servers import FakeModel, serving

REPOSITORY = Path(__file__).resolve().parents[2]
POLICY = "---\naria-dream: policy\naria-dream-id: abcdefgh23456789\n---\n"
HEAP = (
    "A compost heap is a slow fire. It wants brown and green in layers, air from below, a cover against the rain.\n\n"
    "Turn it every fortnight while it is hot. When worms come up from the soil it has cooled; what is left is earth."
    "\n\nCoffee grounds count as green although they are brown, and cardboard counts as brown when it is torn small.\n"
)
TIDES = (
    "Twice a day the moon pulls the sea over the flats, and the harbour master sets his clock by the almanac.\n\n"
    "Spring tides come with the full and the new moon. At neaps the channel stays open for the ferry all day long.\n"
)
NOTES = {
    "dreaming.md": POLICY,
    "Compost.md": HEAP,
    "Inbox/Compost copy.md": HEAP.replace("\n\n", "\n\n\n"),
    "Tides.md": f"{TIDES}\nSee [[Compost copy]].\n",
    "Bread.md": "Flour, water and salt. A starter that is fed on a schedule rises by itself, given warmth and time.\n",
}


CTRL_C = """
import aria_dream.consolidate.comparison as comparison
def end(_pair):
    raise KeyboardInterrupt
comparison.embedded_compare = end
"""


class Vault:
    """A vault, and a home of its own for state and cache."""

    def __init__(self, folder: Path, notes: dict[str, str]) -> None:
        self.root, self.state = folder / "vault", folder / "state" / "abcdefgh23456789"
        self.environ = {
            **os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "utf-8",
            "ARIA_DREAM_STATE": str(folder / "state"), "ARIA_DREAM_CACHE": str(folder / "cache"),
            "ARIA_TRIAGE_BACKEND": "embedded",
        }  # fmt: skip
        (self.root / ".obsidian").mkdir(parents=True)
        for name, text in notes.items():
            place = self.root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8", newline="")

    def run(self, *words: str, code: int = 0, before: str = "") -> str:
        """What it prints; `before` is Python that runs first, in the same process."""
        call = ["-c", f"{before}\nfrom aria_dream.cli import main\nmain()"]
        done = subprocess.run(
            [sys.executable, *call, *words[:1], str(self.root), *words[1:]], env=self.environ, capture_output=True,
            text=True, encoding="utf-8", check=False, timeout=240,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    def consolidate(self, *words: str) -> dict[str, Any]:
        found = json.loads(self.run("consolidate", *words, "--json"))
        assert isinstance(found, dict)
        return found

    def held(self) -> dict[str, bytes]:
        files = (place for place in self.root.rglob("*") if place.is_file())
        return {place.relative_to(self.root).as_posix(): place.read_bytes() for place in files}

    def theirs(self) -> dict[str, bytes]:
        return {name: data for name, data in self.held().items() if not name.startswith("dreams/")}


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path, NOTES)


def test_a_copy_is_proposed_shown_merged_and_undone(vault: Vault) -> None:
    before = vault.theirs()
    found = vault.consolidate()
    assert (found["stop_reason"], found["left"], found["judge"]) == ("", 0, "embedded judge")
    (proposal,) = found["proposals"]
    assert (proposal["kind"], proposal["paths"]) == ("merge", ["Compost.md", "Inbox/Compost copy.md"])
    assert vault.theirs() == before
    assert found["report"] == "dreams/Dream report.md"
    review = vault.root / "dreams" / "Dream review.md"
    text = review.read_text("utf-8")
    assert f"[ ] merge them ^aria-{proposal['id']}" in text
    assert "finding:" not in text
    review.write_text(text.replace("[ ] merge them", "[x] merge them"), encoding="utf-8")
    vault.run("apply")
    assert not (vault.root / "Inbox" / "Compost copy.md").exists()
    assert "[[Compost" in (vault.root / "Tides.md").read_text("utf-8")
    assert "Compost copy]]" not in (vault.root / "Tides.md").read_text("utf-8").replace("|Compost copy]]", "")
    vault.run("rollback", proposal["id"])
    assert vault.theirs() == before
    again = vault.consolidate()
    assert again["proposals"] == []  # taken back: remembered
    assert again["atoms_new"] == 0


NEARLY = HEAP.replace("It wants brown and green in layers", "Give it layers of brown and green") + (
    "\nA lid of old carpet keeps the heap warm.\n"
)


def test_a_near_pair_is_settled_in_the_review_and_taken_back(tmp_path: Path) -> None:
    vault = Vault(tmp_path, {"dreaming.md": POLICY, "Compost.md": HEAP, "Garden/Compost heap.md": NEARLY})
    (left,) = vault.consolidate()["open_pairs"]
    assert left["paths"] in (["Compost.md", "Garden/Compost heap.md"], ["Garden/Compost heap.md", "Compost.md"])
    before, review = vault.theirs(), vault.root / "dreams" / "Dream review.md"

    def tick(what: str) -> None:
        text = review.read_text("utf-8")
        assert text.count(f"- [ ] {what} ^") == 1
        review.write_text(text.replace(f"- [ ] {what} ^", f"- [x] {what} ^"), encoding="utf-8")

    tick("different")
    assert vault.consolidate()["open_pairs"] == []
    assert "- [ ] different" not in review.read_text("utf-8")
    (settled,) = json.loads(vault.run("history", "--json"))["settled"]
    assert settled["what"] == "different"
    assert f"{settled['key'][:8]}  different: {' ↔ '.join(settled['titles'])}" in vault.run("history")
    assert "Undone: " in vault.run("rollback", settled["key"][:8])
    assert "there is no proposal" in vault.run("rollback", settled["key"][:8], code=NotFoundError.exit_code)
    vault.consolidate()
    tick("same")
    (made,) = vault.consolidate()["proposals"]
    assert (made["kind"], made["judge"]) == ("merge", "you")
    assert vault.theirs() == before
    id_ = made["id"]
    shown = vault.run("review", id_)
    assert "reworded: It wants brown and green in layers" in shown
    vault.run("review", id_, "--approve")
    vault.run("apply")
    merged = b"".join(vault.theirs().values())
    assert b"old carpet" in merged
    vault.run("rollback", id_)
    assert vault.theirs() == before
    assert vault.consolidate()["proposals"] == []


def test_the_second_night_asks_nothing_and_says_so(vault: Vault) -> None:
    vault.consolidate()
    second = vault.consolidate()
    assert (second["proposals"], second["pairs_judged"]) == ([], 0)
    told = vault.run("consolidate")
    assert "Nothing new is proposed." in told


def test_a_rehearsal_leaves_no_trace(vault: Vault) -> None:
    before = vault.held()
    found = vault.consolidate("--dry-run")
    assert len(found["proposals"]) == 1
    assert not found["written"]
    assert vault.held() == before
    assert not vault.state.exists() or not [path for path in vault.state.iterdir() if path.suffix == ".jsonl"]
    assert "nothing was written" in vault.run("consolidate", "--dry-run")


def test_two_of_one_name_are_told_apart(tmp_path: Path) -> None:
    vault = Vault(tmp_path, {"dreaming.md": POLICY, "Compost.md": HEAP, "Inbox/Compost.md": HEAP})
    assert "merge: Compost ↔ Inbox/Compost (" in vault.run("consolidate", "--dry-run")


def test_stages_alone(vault: Vault) -> None:
    triage = vault.consolidate("--stage", "triage")
    assert (triage["candidate_pairs"], triage["pairs_judged"], triage["proposals"]) == (1, 0, [])
    resolve = vault.consolidate("--stage", "resolve")
    assert (resolve["candidate_pairs"], resolve["proposals"]) == (0, [])
    assert len(vault.consolidate("--stage", "consolidate")["proposals"]) == 1


def test_ctrl_c_loses_nothing_and_says_how_to_go_on(vault: Vault) -> None:
    told = vault.run("consolidate", before=CTRL_C, code=130)
    assert "consolidate VAULT --resume" in told
    store = RecordStore(vault.state)
    assert [run.end for run in store.consolidations()] == [End.INTERRUPTED]
    found = vault.consolidate("--resume")
    assert found["resumed"]
    assert len(found["proposals"]) == 1
    assert [run.end for run in store.consolidations()] == [End.DONE]
    nothing = vault.consolidate("--resume")
    assert nothing["id"] is None
    assert "nothing to go on with" in nothing["stop_reason"]


def test_two_at_once_is_refused(vault: Vault) -> None:
    with consolidation_lock(vault.state).held():
        assert "a consolidation" in vault.run("consolidate", code=5)
    vault.consolidate()


def test_a_vault_without_candidates_says_so(tmp_path: Path) -> None:
    told = Vault(tmp_path, {"dreaming.md": POLICY, "Tides.md": TIDES, "Bread.md": NOTES["Bread.md"]}).run("consolidate")
    assert "0 pairs lie near each other" in told
    assert "Nothing new is proposed." in told


def test_a_wrong_call_and_a_closed_policy(vault: Vault) -> None:
    assert "--resume goes on" in vault.run("consolidate", "--resume", "--dry-run", code=2)
    (vault.root / "dreaming.md").write_text(f"{POLICY}- dreaming: off\n", encoding="utf-8")
    found = vault.consolidate()
    assert found["id"] is None
    assert "`dreaming` is off" in found["stop_reason"]
    (vault.root / "dreaming.md").write_text(f"{POLICY}- exclude: [unclosed\n", encoding="utf-8")
    assert vault.consolidate()["id"] is None


def test_what_the_policy_hides_is_no_part_of_a_night(tmp_path: Path) -> None:
    hidden = {**NOTES, "dreaming.md": f"{POLICY}- exclude: Inbox\n", "Private.md": f"---\ndream: false\n---\n{HEAP}"}
    vault = Vault(tmp_path, hidden)
    found = vault.consolidate()
    assert (found["candidate_pairs"], found["proposals"]) == (0, [])
    for name, data in vault.held().items():
        assert b"Compost copy" not in data or name in ("Tides.md", "Inbox/Compost copy.md")


BRIDGES = {
    "Harrow.md": (
        "Harrow Bridge crosses the Senn below the mill and carries the road to the market town.\n\n"
        "Harrow Bridge was opened in 1911. It has three arches of grey stone.\n"
    ),
    "Senn.md": (
        "The river Senn rises in the hills and runs past four villages before it meets the sea.\n\n"
        "Harrow Bridge was opened in 1913. Upstream of it the trout are small and dark.\n"
    ),
    "Prices.md": "---\nvalid_until: 2024-01-01\n---\nSeed prices of the year with the numbers to call for an order.\n",
}


def answer(request: dict[str, Any]) -> str:
    verdicts = request["format"]["properties"]["verdict"]["enum"]
    if "keep_a" in verdicts:
        user = request["messages"][1]["content"]
        kept = "keep_a" if user.index("Claim: Harrow Bridge was opened in 1911") < user.index("in 1913") else "keep_b"
        return json.dumps({"reason": "the note of the bridge itself", "verdict": kept, "confidence": 0.93})
    return json.dumps({"reason": "one note twice", "verdict": "merge", "confidence": 0.9, "wording": ""})


def with_model(folder: Path, url: str, *lines: str) -> Vault:
    policy = "".join(f"- {line}\n" for line in (f"ollama_url: {url}", "triage_model: judge", *lines))
    vault = Vault(folder, {**NOTES, **BRIDGES, "dreaming.md": POLICY + policy})
    vault.environ["ARIA_TRIAGE_BACKEND"] = "ollama"
    return vault


def test_a_language_model_settles_what_the_judge_inside_leaves(tmp_path: Path) -> None:
    with serving(FakeModel(say=answer)) as model:
        vault = with_model(tmp_path, model.url)
        before = vault.theirs()
        found = vault.consolidate()
        kinds = {proposal["kind"]: proposal for proposal in found["proposals"]}
        assert set(kinds) == {"merge", "resolve_contradiction", "obsolete"}
        assert found["tokens"] > 0
        assert "judge" in kinds["resolve_contradiction"]["judge"]
        assert vault.theirs() == before
        asked = len(model.requests)
        assert vault.consolidate()["proposals"] == []
        assert len(model.requests) == asked
        vault.run("review", kinds["resolve_contradiction"]["id"], "--approve")
        vault.run("apply")
        senn = (vault.root / "Senn.md").read_text("utf-8")
        assert "~~Harrow Bridge was opened in 1913.~~ ([[Harrow]])" in senn
        vault.run("rollback", kinds["resolve_contradiction"]["id"])
        assert vault.theirs() == before


def test_a_model_that_babbles_is_a_breaker_and_a_budget_holds(tmp_path: Path) -> None:
    copies = {f"Copy {number}.md": HEAP + f"\nThe {word} time.\n" for number, word in enumerate(
        ("first", "second", "third", "fourth", "fifth"))}  # fmt: skip
    with serving(FakeModel(say=lambda _request: "I would rather not say")) as model:
        vault = with_model(tmp_path / "a", model.url)
        for name, text in copies.items():
            (vault.root / name).write_text(text, encoding="utf-8")
        found = vault.consolidate()
        assert "its answers cannot be read" in found["stop_reason"]
        assert found["pairs_judged"] == 3
    with serving(FakeModel(say=answer)) as model:
        vault = with_model(tmp_path / "b", model.url, "token_budget_per_night: 1000")
        found = vault.consolidate()
        assert "tokens" in found["stop_reason"]
        assert (found["tokens"], model.requests) == (0, [])
        assert found["left"] == 2


def test_the_report_names_lessons_and_open_candidates(tmp_path: Path) -> None:
    today = f"{datetime.now().astimezone():%Y-%m-%d}"
    states = ((1, "proposed"), (2, "approved"))
    candidates = "".join(f"\n### ni-20261130-0{n} - Gap\n- **status:** {state}\n" for n, state in states)
    head = "---\naria-dream: synthesis\n---\n\n# Dream log\n\n## 2026-11-30 (nightly, 03:00)\n"
    notes = {
        **NOTES,
        "memory/DREAM_LOG.md": head + candidates,
        "memory/runtime/LESSONS.jsonl": "".join(
            json.dumps({"lesson_id": id_, "lesson": "x", "created_at": day}) + "\n"
            for id_, day in (("l001", "2020-01-01"), ("l002", today), ("l003|]]", today))
        ),
    }
    vault = Vault(tmp_path, notes)
    vault.run("consolidate")
    report = (vault.root / "dreams" / "Dream report.md").read_text("utf-8")
    said = "The synthesis left 1 new lesson (l002) and 1 open candidate (ni-20261130-01) in [[DREAM_LOG|DREAM_LOG.md]]."
    assert said in report.replace("memory/DREAM_LOG|", "DREAM_LOG|")
