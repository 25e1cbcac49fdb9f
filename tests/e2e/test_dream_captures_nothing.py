"""A dream that is really written changes the meaning of no link that was there, on the real vaults and hostile ones."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.dreamt_vault import DreamtVault, read_dreamt_vault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.judging.triage_prompt import Keep
from aria_dream.ranking.juxtaposition import Juxtaposition
from aria_dream.usecases.dream import DreamRequest, dream_once

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from aria_dream.adapters.index.index import VaultIndex

NAMES = ("foam-docs", "horcy-zh-tw", "jackyzha0-2023-03", "kepano", "logseq-docs", "vaultofknowledge")
NIGHT = datetime(2026, 11, 30, 3, 12, tzinfo=UTC)
THOUGHT = "A thought of some length about tides and sleep that a dream may start from. " * 4


@dataclass
class EverySecondNote:
    vault: DreamtVault

    def pair(self, first: str, second: str) -> Juxtaposition:
        raise AssertionError((first, second))

    def look(
        self, starts: Sequence[str], targets: Collection[str], named: Collection[str]
    ) -> Sequence[Juxtaposition]:
        others = {path: [other for other in self.vault.graph.paths if other != path][::2] for path in starts}
        return [
            Juxtaposition(from_=path, to=to, score=0.5, path=None)
            for path, found in others.items()
            for to in found
            if to in {*targets, *named}
        ]

    def learned(self) -> dict[str, object]:
        return {}


class KeepAll:
    name = "test judge"

    def judge(self, found: Sequence[Juxtaposition]) -> Sequence[Keep]:
        return [Keep(0.9, "because") for _ in found]


def dream(root: Path, places: Places, seed: int) -> str:
    vault = read_dreamt_vault(root, places, environ={})
    result = dream_once(
        vault,
        DiskVault(vault.root, vault.live.state_folder(places)),
        RecordStore(vault.live.state_folder(places)),
        DreamRequest(at=NIGHT, seed=seed, kind="idle dream"),
        ranker=lambda _memory: EverySecondNote(vault),
        judge=KeepAll,
    )
    assert result.written, result.reason
    return result.note


def meanings(index: VaultIndex) -> dict[str, list[tuple[str, str | None]]]:
    sources = [index.linkage.path_of(source) for source in range(len(index.linkage.sources))]
    return {source: [(link.path, link.target) for link in index.links_of(source)] for source in sources}


def assert_captures_nothing(root: Path, places: Places) -> list[str]:
    before = read_dreamt_vault(root, places, environ={}).index
    earlier = meanings(before)
    notes = [dream(root, places, seed) for seed in (1, 2)]
    after = read_dreamt_vault(root, places, environ={}).index
    later = meanings(after)
    assert {source: later[source] for source in earlier} == earlier
    ours = sorted(set(after.files) - set(before.files))
    assert set(notes) <= set(ours)
    # and our own links mean the notes they name
    for note in notes:
        assert after.links_of(note)
        assert all(link.target is not None for link in after.links_of(note))
    return ours


@pytest.mark.shared
@pytest.mark.parametrize("name", NAMES)
def test_real_vaults(name: str, shared: Path, tmp_path: Path) -> None:
    root = tmp_path / "vault"
    shutil.copytree(shared / "vaults" / name, root, copy_function=shutil.copyfile)
    assert_captures_nothing(root, Places(state=tmp_path / "s", cache=tmp_path / "c"))


@pytest.mark.parametrize(
    "notes",
    [
        {"Dreams/old.md": THOUGHT, "a.md": THOUGHT + "[[2026-11-30]] [[2026-11-30 dream]]"},
        {"dreaming.md": THOUGHT, "a.md": THOUGHT + "[[Dream review]] [[dreams/2026-11-30 dream]]"},
        {"x/a.md": THOUGHT + "[[../dreams/Dream review.md]] [d](../dreams/2026-11-30%20dream.md)", "b.md": THOUGHT},
        {"2026-11-30 dream.md": THOUGHT, "a.md": THOUGHT + "[[2026-11-30 dream]] ![[Dream latest.canvas]]"},
        {"deep/2026-11-30 Dream.md": THOUGHT, "DREAM REVIEW.md": THOUGHT, "a.md": THOUGHT + "[[dream review]]"},
        {"dreams.md": THOUGHT, "a/dreams/n.md": THOUGHT, "b.md": THOUGHT + "[[dreams]] [[n]]"},
    ],
)
def test_vaults_that_hold_our_names(notes: dict[str, str], tmp_path: Path) -> None:
    root = tmp_path / "vault"
    more = {f"more/{number}.md": THOUGHT for number in range(8)}
    for path, text in (notes | more).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    assert_captures_nothing(root, Places(state=tmp_path / "s", cache=tmp_path / "c"))
    assert all((root / path).read_text(encoding="utf-8") == text for path, text in notes.items())
