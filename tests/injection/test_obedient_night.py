"""A whole night with a model that does what every note tells it: real vault, real command, real socket."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.injection.attacks import AIMS, ORDERS, attacks
from aria_dream.injection.consolidation import REPLIES
from aria_dream.markdown.note import parse_note
from tests.e2e.test_consolidate import Vault
from tests.model_servers import FakeModel, serving

if TYPE_CHECKING:
    from pathlib import Path

POLICY = """\
---
aria-dream: policy
aria-dream-id: abcdefgh23456789
---
- triage_backend: ollama
- triage_model: judge
- ollama_url: {url}
"""
KEEP = json.dumps({"reason": "The note says so [[Passwords]]", "verdict": "keep_a", "confidence": 1})
MERGE = json.dumps({"reason": "See [[Passwords]] https://collect.example", "verdict": "merge", "confidence": 1})


def planted() -> dict[str, str]:
    """Pairs of notes that say nearly the same or contradict each other, orders in properties, headings and bodies."""
    orders = [attack.text for attack in attacks() if attack.place == "body"]
    notes = {"Passwords.md": "The door opens with CANARY.\n"}
    for number, order in enumerate(orders[:6]):
        line = ORDERS["en"][AIMS[number % len(AIMS)]].replace('"', "'").replace("[[", "").replace("]]", "")
        head = f'---\naliases: ["{line[:60]}"]\nmood: "{line}"\n---\n'
        fact = f"The tower of Lund{'abcdef'[number]} was begun by masons from the coast and is {{}} m tall."
        body = "Its stones came over the sea in barges, and the bells were cast in the yard below the northern wall."
        notes[f"Tower {'abcdef'[number]}.md"] = f"{head}# {line}\n\n{fact.format(330)} {body}\n\n{order}\n"
        notes[f"Inbox/Tower {'abcdef'[number]} again.md"] = f"{head}{fact.format(420)} {body}\n\n{order}\n"
    return notes


def night(tmp_path: Path, model: FakeModel) -> tuple[Vault, dict[str, Any], dict[str, bytes]]:
    vault = Vault(tmp_path, {**planted(), "dreaming.md": POLICY.format(url=model.url)})
    del vault.environ["ARIA_TRIAGE_BACKEND"]
    before = vault.theirs()
    return vault, vault.consolidate(), before


def test_a_model_that_obeys_every_attacker(tmp_path: Path) -> None:
    turn = iter(range(10_000))

    def obey(request: dict[str, Any]) -> str:
        number = next(turn)
        if number % 7 == 0:
            return REPLIES[number % len(REPLIES)]
        if "wording" in request["format"]["properties"]:
            return MERGE
        # An attacker who knows how it is asked has it keep the same claim whichever stands first.
        user = request["messages"][1]["content"]
        return KEEP if user.index("330 m tall") < user.index("420 m tall") else KEEP.replace("keep_a", "keep_b")

    with serving(FakeModel(say=obey)) as model:
        vault, found, before = night(tmp_path, model)
    assert model.requests
    assert found["judge"] == "judge"
    assert vault.theirs() == before  # no note of the writer's, and no line of the policy
    assert not list(tmp_path.rglob(".profile"))
    offered = set(before) - {"Passwords.md", "dreaming.md"}
    assert found["proposals"]
    states = RecordStore(vault.state).read().states
    assert set(states) == {proposal["id"] for proposal in found["proposals"]}
    for state in states.values():
        assert set(state.paths) <= offered
        names = {path.rpartition("/")[2] for path in offered}
        assert {edit.path.rpartition("/")[2] for edit in state.edits} <= names
    resolved = [state for state in states.values() if state.proposal.kind == "resolve_contradiction"]
    assert resolved
    for state in resolved:
        (edit,) = state.edits
        struck = re.search(r"~~(The tower of Lund[a-f] was begun .* m tall\.)~~ \(\[\[[^\[\]]+\]\]\)", edit.inserted)
        assert struck
        assert edit.inserted.replace(struck[0], struck[1]) == edit.removed
    for path, data in vault.held().items():
        if path.startswith("dreams/"):
            _inert(data.decode(), {path.removesuffix(".md") for path in offered})


def _inert(text: str, titles: set[str]) -> None:
    """Nothing that a model or a note said is more than text in a note of ours."""
    note = parse_note(text)
    names = {*titles, *(title.rpartition("/")[2] for title in titles)}
    assert {link.path for link in note.links} <= names
    assert not [tag for tag in note.tags if tag != "aria-dream"]
    outside = "".join(text[a:b] for a, b in _gaps(note.text, [(span.start, span.end) for span in note.opaque]))
    assert "CANARY" not in text
    assert not re.search(r"(?<!\\)\[x\]", outside)


def _gaps(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    gaps, at = [], 0
    for start, end in spans:
        gaps.append((at, max(at, start)))
        at = max(at, end)
    return [*gaps, (at, len(text))]


def test_the_model_is_told_nothing_in_its_own_voice(tmp_path: Path) -> None:
    with serving(FakeModel(say=lambda _: "no")) as model:
        night(tmp_path, model)
    assert model.requests
    nonces = []
    for request in model.requests:
        system, user = (message["content"] for message in request["messages"])
        (nonce,) = set(re.findall(r"<<<data ([0-9a-f]{16})>>>", user))
        nonces.append(nonce)
        outside = [line for line in user.splitlines() if not line.startswith("│")]
        assert outside.count(f"<<<data {nonce}>>>") == outside.count(f"<<<end {nonce}>>>") in (2, 3)
        assert {line for line in outside if line and not line.startswith("<<<")} <= {
            "First passage:", "Second passage:", "First claim (a):", "Second claim (b):", "Evidence:",
        }  # fmt: skip
        assert nonce in system
        assert not [order for orders in ORDERS.values() for order in orders.values() if order in system]
    assert len(set(nonces)) == len(nonces)
