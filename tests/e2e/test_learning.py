"""What the writer decides teaches the embedded judge: refusing pairs of one kind lowers that kind, and no other."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.decisions import decided_pairs_seen
from aria_dream.adapters.index.dreamt_vault import DreamtVault, read_dreamt_vault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.judging.worth import FEATURES, STRUCTURE_TERMS, evidence_kept
from aria_dream.ranking.juxtaposition import Juxtaposition
from aria_dream.ranking.walk import Memory
from aria_dream.review.proposal import Event, Proposal, event_record, proposal_id
from aria_dream.usecases.dream_run import open_dream_parts

if TYPE_CHECKING:
    from collections.abc import Iterable

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "vault"
AT = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(state=tmp_path / "state", cache=tmp_path / "cache")


@pytest.fixture
def vault(tmp_path: Path, places: Places) -> DreamtVault:
    return read_dreamt_vault(Path(shutil.copytree(EXAMPLE, tmp_path / "vault")), places, environ={})


def book_of(vault: DreamtVault, places: Places) -> RecordStore:
    folder = vault.live.state_folder(places)
    folder.mkdir(parents=True, exist_ok=True)
    return RecordStore(folder)


def decide(store: RecordStore, pair: Juxtaposition, event: Event, by: str = "tick") -> None:
    paths = (pair.from_, pair.to)
    id_ = proposal_id("link", paths, 0)
    evidence = evidence_kept(pair)
    store.propose([
        Proposal(
            id=id_, kind="link", paths=paths, round=0, at=AT, expires_at=None, titles=paths, score=pair.score,
            evidence=evidence,
        )
    ])  # fmt: skip
    store.note(event_record(event, id_, AT, by=by))


def candidates(vault: DreamtVault, places: Places) -> list[Juxtaposition]:
    """Every pair once, best first, as the ranking names it while nothing is decided."""
    with open_dream_parts(vault, places) as parts:
        ranker = parts.ranker(Memory())
        found = {pair.pair: pair for pair in ranker.look(vault.graph.paths, vault.graph.paths)}
    return sorted(found.values(), key=lambda pair: (-pair.score, pair.pair))


def chances(vault: DreamtVault, places: Places, pairs: Iterable[Juxtaposition]) -> list[float]:
    with open_dream_parts(vault, places) as parts:
        parts.ranker(Memory())
        return [verdict.probability or 0.0 for verdict in parts.embedded().judge(list(pairs))]


def is_far(pair: Juxtaposition) -> bool:
    """Only the text speaks for it: no way, or a long one, and nothing from the links."""
    return sum(term.value for term in pair.evidence if term.name in STRUCTURE_TERMS) < 0.05


def test_refusing_five_pairs_of_one_kind_lowers_that_kind(vault: DreamtVault, places: Places) -> None:
    found = candidates(vault, places)
    far, near = [pair for pair in found if is_far(pair)][:25], [pair for pair in found if not is_far(pair)][:25]
    assert len(far) > 12
    assert len(near) > 12
    refused, others = far[:5], far[5:]
    before = chances(vault, places, others), chances(vault, places, near)
    store = book_of(vault, places)
    for pair in refused:
        decide(store, pair, "rejected")
    after = chances(vault, places, others), chances(vault, places, near)
    assert mean(after[0]) < mean(before[0])
    lowered = sum(now < was for now, was in zip(after[0], before[0], strict=True))
    assert lowered > 0.8 * len(others)
    fall = mean(before[0]) - mean(after[0]), mean(before[1]) - mean(after[1])
    assert fall[0] > fall[1]  # it is that kind which falls, not the judge's mood


def test_approving_pairs_of_a_kind_raises_it(vault: DreamtVault, places: Places) -> None:
    far = [pair for pair in candidates(vault, places) if is_far(pair)][:25]
    chosen, others = far[-5:], far[:-5]
    before = chances(vault, places, others)
    store = book_of(vault, places)
    for pair in chosen:
        decide(store, pair, "approved")
    assert mean(chances(vault, places, others)) > mean(before)


def test_which_decisions_teach(vault: DreamtVault, places: Places) -> None:
    pairs = candidates(vault, places)[:6]
    store = book_of(vault, places)
    decide(store, pairs[0], "approved")
    decide(store, pairs[1], "rejected")
    decide(store, pairs[2], "approved", by="auto")
    decide(store, pairs[3], "expired")
    bare = Juxtaposition(from_=pairs[4].from_, to=pairs[4].to, score=0.5, path=None)
    decide(store, bare, "rejected")  # another machine's: its terms are not known
    gone = Juxtaposition(from_="Gone.md", to=pairs[5].to, score=0.5, path=None, evidence=pairs[5].evidence)
    decide(store, gone, "rejected")
    found = decided_pairs_seen(vault, store.read().states.values())
    assert [answer for _, answer in found] == [True, False]
    (first, _), _ = found
    terms = {term.name: term.value for term in pairs[0].evidence}
    assert first[FEATURES.index("structure")] == pytest.approx(sum(terms.get(name, 0.0) for name in STRUCTURE_TERMS))
