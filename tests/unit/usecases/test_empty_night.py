"""A night that ran and found nothing leaves one line a day, and a dream by hand none."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.notes.dream_log import parse_blocks
from aria_dream.usecases.dream import BY_HAND, NO_DREAM, DreamRequest, DreamResult
from aria_dream.usecases.dream_run import run_dream
from tests.e2e.test_dream import NOTES, make_vault

if TYPE_CHECKING:
    from pathlib import Path

AT = datetime(2028, 2, 29, 0, 20, tzinfo=UTC)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two notes that have nothing to do with each other."""
    return make_vault(tmp_path / "vault", {name: NOTES[name] for name in ("Tax return.md", "Slack water.md")})


def night(root: Path, kind: str, at: datetime = AT) -> DreamResult:
    places = Places(state=root.parent / "state", cache=root.parent / "cache")
    vault = read_dreamt_vault(root, places, environ={})
    store = RecordStore(vault.live.state_folder(places))
    return run_dream(vault, places, store, DreamRequest(at=at, seed=1, kind=kind))[0]


def test_an_empty_night_says_so_once_a_day(root: Path) -> None:
    result = night(root, "idle dream")
    assert result.dreamt is None
    note = root / "dreams" / "2028-02-29 dream.md"
    text = note.read_text(encoding="utf-8")
    (line,) = (line for line in text.splitlines() if line.startswith(NO_DREAM))
    assert line.startswith(f"{NO_DREAM} 00:20: the judge did not keep the one pair that resonated")
    assert line.endswith("model as judge.")
    assert parse_blocks(text) == ((), ())
    night(root, "nightly dream", AT.replace(hour=3))
    assert note.read_text(encoding="utf-8") == text


def test_a_dream_by_hand_that_finds_nothing_writes_nothing(root: Path) -> None:
    before = sorted(root.rglob("*.md"))
    result = night(root, BY_HAND)
    assert "nothing was written" in result.reason
    assert sorted(root.rglob("*.md")) == before


def test_a_rehearsal_writes_nothing(root: Path) -> None:
    before = sorted(root.rglob("*.md"))
    places = Places(state=root.parent / "state", cache=root.parent / "cache")
    vault = read_dreamt_vault(root, places, environ={})
    request = replace(DreamRequest(at=AT, seed=1, kind="idle dream"), dry_run=True)
    run_dream(vault, places, RecordStore(vault.live.state_folder(places)), request)
    assert sorted(root.rglob("*.md")) == before
