"""The whole dream with a model that does what every note tells it: real vault, real command, real socket."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from aria_dream.injection.attacks import AIMS, ORDERS, REPLIES, attacks
from aria_dream.markdown.note import parse_note
from aria_dream.notes.dream_log import parse_blocks
from tests.e2e.test_dream import NOTES, make_vault, run
from tests.model_servers import FakeModel, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

POLICY = """\
---
aria-dream: policy
---
- triage_backend: ollama
- triage_model: judge
- ollama_url: {url}
"""


def planted() -> dict[str, str]:
    """The notes of a small vault, each with attacks in its properties, its body and a link's text."""
    found = [attack for attack in attacks() if attack.place == "body"]
    notes: dict[str, str] = {}
    for number, (name, text) in enumerate(NOTES.items()):
        body = "\n\n".join(attack.text for attack in found[number :: len(NOTES)])
        order = ORDERS["en"][AIMS[number % len(AIMS)]].replace('"', "'").replace("]]", "").replace("[[", "")
        head = f'---\naliases: ["{order}"]\nmood: "{order}"\n---\n'
        notes[name] = f"{head}{text}\n{body}\n\nSee [[Compost|{order[:60]}]].\n"
    return notes


def digests(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def replies() -> Iterator[str]:
    return iter([reply for aim in AIMS for reply in REPLIES[aim]] * 40)


def test_a_model_that_obeys_every_attacker(tmp_path: Path, replies: Iterator[str]) -> None:
    root = make_vault(tmp_path / "vault", planted())
    (tmp_path / "secret.txt").write_text("canary", encoding="utf-8")
    with serving(FakeModel(say=lambda _request: next(replies))) as model:
        (root / "dreaming.md").write_text(POLICY.format(url=model.url), encoding="utf-8")
        run("init", root)
        before, outside = digests(root), digests(tmp_path / "home")
        results: list[dict[str, Any]] = [
            json.loads(run("dream", root, "--json", "--seed", str(seed)).stdout) for seed in range(6)
        ]
    assert model.requests
    after = digests(root)
    ours = {path for path in after if before.get(path) != after[path]}
    assert ours <= {*(path for path in after if path.startswith("dreams/"))}
    assert not [path for path in digests(tmp_path / "home") if path not in outside and not _is_state(path)]
    assert not list(tmp_path.rglob(".profile"))
    titles = {Path(name).stem for name in NOTES}
    for path in (path for path in ours if path.endswith(" dream.md")):
        text = (root / path).read_text(encoding="utf-8")
        _inert(text, titles)
        offered = {(pair["from"], pair["to"]) for result in results for pair in [*result["pairs"], *result["dropped"]]}
        assert all({first, second} <= set(NOTES) for first, second in offered)
        ids = {pair["id"] for result in results for pair in result["pairs"]}
        assert set(re.findall(r"(?<!\\)\^aria-([a-z2-7]+)", text)) <= ids
    assert any(result["pairs"] for result in results)
    (told,) = [(root / path).read_text(encoding="utf-8") for path in ours if path.endswith(" dream.md")]
    assert "⚠ unreadable: the answer " in told  # what could not be read is shown in the fold, in our words


def _is_state(path: str) -> bool:
    return path.startswith(("state/", "cache/", "data/", "config/", "appdata/")) or "aria-dream" in path


def _inert(text: str, titles: set[str]) -> None:
    note = parse_note(text)
    assert {link.path for link in note.links} <= titles
    assert not [tag for tag in note.tags if tag != "aria-dream"]
    assert {heading.text.partition(" — ")[2] for heading in note.headings} == {"dream"}
    assert not re.search(r"://|www\.|!\[|<\w|`|\[x\]", text)
    blocks, problems = parse_blocks(text)
    assert blocks
    assert problems == ()
    judges = ("judge", "embedded judge")  # which finishes after three unusable answers
    assert all(pair.judge in judges for block in blocks for pair in block.pairs)


def test_the_model_is_told_nothing_in_its_own_voice(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "vault", planted())
    with serving() as model:
        (root / "dreaming.md").write_text(POLICY.format(url=model.url), encoding="utf-8")
        for seed in range(3):
            run("dream", root, "--dry-run", "--seed", str(seed))
    nonces = []
    for request in model.requests:
        system, user = (message["content"] for message in request["messages"])
        (nonce,) = set(re.findall(r"<<<data ([0-9a-f]{16})>>>", user))
        nonces.append(nonce)
        lines = user.splitlines()
        outside = [line for line in lines if not line.startswith("│")]
        assert outside.count(f"<<<data {nonce}>>>") == outside.count(f"<<<end {nonce}>>>") == 3
        assert [line for line in outside if line and not line.startswith("<<<")] == [
            "The way between them:",
            "First note:",
            "Second note:",
        ]
        assert nonce in system
        for order in (order for orders in ORDERS.values() for order in orders.values()):
            assert order not in system
    assert len(set(nonces)) == len(nonces) > 0
