"""The atoms of a vault on disk: what is an atom there, what is embedded, what is remembered, what can be cut off."""

from __future__ import annotations

import re
import zlib
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.cache_store import ContentCache
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.passages.passage_signatures import PassageSignatures
from aria_dream.adapters.passages.passage_table import PassageTable, find_near, read_note_passages
from aria_dream.adapters.state.importance import read_importance
from aria_dream.consolidate.comparison import embedded_compare
from aria_dream.consolidate.passages import passages_of_note
from aria_dream.markdown.note import parse_note

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.consolidate.near import NearRow

TEXT = "The lighthouse at the point was automated in 1987. Three keepers lived there until then, four weeks at a time."
OTHER = "Sourdough wants warmth, rye flour and patience; the baker listens to it more than to the clock on the wall."


def filler(seed: int) -> str:
    """A long text that shares no rare word with that of another seed."""
    lines = (f"Paragraph of q{seed}x{n} about z{seed}y{n} with a{seed}b{n} and c{seed}d{n} in it." for n in range(40))
    return "\n\n".join(lines)


class WordEmbedder:
    """An honest small embedder: texts with the same words are near. It counts what it was asked."""

    name = "words@1"
    dim = 64

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.encoded += texts
        rows = np.full((len(texts), self.dim), 1e-3, np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()):
                rows[row, zlib.crc32(word.encode()) % self.dim] += 1.0
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(state=tmp_path / "state", cache=tmp_path / "cache")


@pytest.fixture
def cache(places: Places) -> Iterator[ContentCache]:
    with ContentCache(places.cache) as opened:
        yield opened


def vault_of(root: Path, places: Places, notes: dict[str, str]) -> DreamtVault:
    for path, text in notes.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return read_dreamt_vault(root, places)


def near_titles(table: PassageTable, cache: ContentCache, embedder: WordEmbedder) -> list[tuple[str, str]]:
    found = []
    for rank, near in enumerate(find_near(table, cache, embedder, least_cosine=0.8), start=1):
        pair = table.pair(near, rank)
        assert pair is not None
        found.append((pair.first.title, pair.second.title))
    return found


def test_what_is_no_atom_in_a_vault(tmp_path: Path, places: Places, cache: ContentCache) -> None:
    links = "".join(f"- [[Note {n}]]\n" for n in range(30))
    vault = vault_of(
        tmp_path / "vault",
        places,
        {
            "A.md": TEXT,
            "2024-01-01.md": TEXT,
            "2024-01-02.md": TEXT,
            "t/Form.md": TEXT,
            "Templates/Form.md": TEXT,
            "Index.md": f"{OTHER[:60]}\n\n{links}",
            "Hidden.md": f"---\ndream: false\n---\n{TEXT}",
            "Ours.md": f"---\naria-dream: log\n---\n{TEXT}",
            "Board.md": f"---\nkanban-plugin: board\n---\n{TEXT}",
            ".obsidian/templates.json": '{"folder": "t"}',
        },
    )
    table = read_note_passages(vault, cache)
    assert [vault.graph.paths[row.note] for row in table.rows] == ["A.md"]
    passage = table.passage(0)
    assert passage is not None
    assert passage == passages_of_note("A.md", parse_note(TEXT))[0]
    assert table.id_of(0) == passage.id


def test_near_pairs_of_notes_and_sections(tmp_path: Path, places: Places, cache: ContentCache) -> None:
    notes = {
        "Light.md": TEXT,
        "Inbox/Light.md": f"*{TEXT}*\n",
        "Bread.md": OTHER,
        "Long.md": f"{filler(1)}\n\n## Bread in it\n\n{OTHER} Truly so.\n\n## Own\n\n{filler(3)[:300]}\n",
        "Longer.md": f"{filler(2)}\n\n## Of bread\n\n{OTHER} Truly it is so.\n",
    }
    table = read_note_passages(vault_of(tmp_path / "vault", places, notes), cache)
    embedder = WordEmbedder()
    found = near_titles(table, cache, embedder)
    assert found == [("Light", "Light"), ("Long › Bread in it", "Longer › Of bread")]
    assert "Own" not in " ".join(embedder.encoded)  # what shares no words with anything decides nothing


def test_a_note_that_says_all_of_another_and_more(tmp_path: Path, places: Places, cache: ContentCache) -> None:
    """The paragraph that only one has moves its vector far away; the words that both have bring the two together."""
    notes = {
        "Light.md": TEXT,
        "Inbox/Light.md": f"{TEXT}\n\nBread bread {TEXT[:30]}.\n",
        "Bread.md": OTHER,
    }
    table = read_note_passages(vault_of(tmp_path / "vault", places, notes), cache)
    (near,) = find_near(table, cache, WordEmbedder(), least_cosine=0.94)
    pair = table.pair(near, 1)
    assert pair is not None
    assert {pair.first.path, pair.second.path} == {"Light.md", "Inbox/Light.md"}
    assert near.cosine < 0.94
    assert find_near(table, cache, WordEmbedder(), least_cosine=1.0) == ()


def test_nothing_is_computed_twice(tmp_path: Path, places: Places, cache: ContentCache) -> None:
    notes = {f"{name}.md": f"{filler(n)}\n\n## Part\n\n{TEXT} {name}\n" for n, name in enumerate("ABCD")}
    vault = vault_of(tmp_path / "vault", places, notes)
    embedder = WordEmbedder()
    first = find_near(read_note_passages(vault, cache), cache, embedder, least_cosine=0.8)
    asked = len(embedder.encoded)
    read: list[tuple[int, int]] = []
    table = read_note_passages(vault, cache, progress=lambda done, total: read.append((done, total)))
    assert find_near(table, cache, embedder, least_cosine=0.8) == first
    assert len(embedder.encoded) == asked
    assert read == []
    (tmp_path / "vault" / "D.md").write_text(notes["D.md"] + "\nMore.\n", encoding="utf-8")
    table = read_note_passages(
        read_dreamt_vault(tmp_path / "vault", places), cache, progress=lambda done, total: read.append((done, total))
    )
    assert read == [(0, 1), (1, 1)]
    keys = {table.key(row) for row in first if 3 not in (table.rows[row.first].note, table.rows[row.second].note)}
    again = find_near(table, cache, embedder, least_cosine=0.8)
    assert keys
    assert keys <= {table.key(row) for row in again}  # an edit elsewhere leaves verdicts standing


def test_it_goes_on_where_it_was_cut_off(tmp_path: Path, places: Places, cache: ContentCache) -> None:
    class Left(Exception):  # noqa: N818  # as the leave protocol raises
        pass

    notes = {f"N{n}.md": f"{TEXT} {n} " + f"own{n} " * 3 for n in range(50)}
    vault = vault_of(tmp_path / "vault", places, notes)
    embedder, left = WordEmbedder(), [0]

    def permit() -> None:
        left[0] += 1
        if left[0] == 3:
            raise Left

    table = read_note_passages(vault, cache)
    with pytest.raises(Left):
        find_near(table, cache, embedder, least_cosine=0.8, permit=permit)
    asked = len(embedder.encoded)
    assert 0 < asked < 100
    told: list[tuple[int, int]] = []
    find_near(table, cache, embedder, least_cosine=0.8, progress=lambda done, total: told.append((done, total)))
    assert len(embedder.encoded) == len(set(embedder.encoded)) == 100  # a title and a passage each, none twice
    assert told[0] == (0, 50 - asked // 2)
    assert told[-1][0] == told[-1][1]


def test_a_note_that_has_changed_gives_no_pair(tmp_path: Path, places: Places, cache: ContentCache) -> None:
    root = tmp_path / "vault"
    table = read_note_passages(vault_of(root, places, {"A.md": TEXT, "f/A.md": TEXT}), cache)
    (near,) = find_near(table, cache, WordEmbedder(), least_cosine=0.8)
    (root / "A.md").write_text("Now it says something else altogether.", encoding="utf-8")
    assert table.pair(near, 1) is None


def test_a_damaged_cache_is_read_anew(tmp_path: Path, places: Places, cache: ContentCache) -> None:
    vault = vault_of(tmp_path / "vault", places, {"A.md": TEXT, "f/A.md": TEXT})
    whole = read_note_passages(vault, cache)
    from aria_dream.adapters.passages.passage_rows import note_key
    from aria_dream.adapters.passages.passage_table import PASSAGES_KIND

    for blob in (b"", b"[", b'[["x"]]\n', b"[[[], 1, 2, 3, 9]]\n\x00\x00\x00\x00"):
        cache.put_many(PASSAGES_KIND, {note_key(vault, 0): blob})
        assert [row.fingerprint for row in read_note_passages(vault, cache).rows] == [
            row.fingerprint for row in whole.rows
        ]


def test_what_speaks_for_a_note(tmp_path: Path, places: Places) -> None:
    vault = vault_of(
        tmp_path / "vault", places, {"A.md": f"---\ncreated: 2020-05-06\n---\n{TEXT}", "B.md": "[[A]]", "C.md": "[[A]]"}
    )
    standing = read_importance(vault, ["A.md", "B.md", "Gone.md"])
    assert (standing["A.md"].links, standing["A.md"].since) == (2, "2020-05-06")
    assert standing["B.md"].links == 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", standing["B.md"].since)
    assert "Gone.md" not in standing


def test_the_gists_of_a_vault_say_what_the_judge_says(tmp_path: Path, places: Places, cache: ContentCache) -> None:
    """However few of them are kept, and whatever of the vault has changed meanwhile."""
    words = [f"q{n}w{n}" for n in range(90)]
    notes = {f"N{n}.md": " ".join(Random(n).sample(words, 60)) + ".\n" for n in range(6)}
    vault = vault_of(tmp_path / "vault", places, {**notes, "Copy.md": notes["N1.md"]})
    table = read_note_passages(vault, cache)
    near = find_near(table, cache, WordEmbedder(), least_cosine=0.5)
    assert len(near) > 6
    for most_kept in (1, 100):
        signatures = PassageSignatures(table, near, most_kept=most_kept)
        said = [signatures.compare(row, rank) for rank, row in enumerate(near, start=1)]
        for rank, (row, verdict) in enumerate(zip(near, said, strict=True), start=1):
            pair = table.pair(row, rank)
            assert pair is not None
            assert verdict is None or verdict == embedded_compare(pair)
        assert said.count(None) == 1  # the copy
    (tmp_path / "vault" / "N2.md").write_text("something else\n", encoding="utf-8")
    gone = PassageSignatures(table, near)
    assert {gone.compare(row, 1) for row in near if "N2" in str(_titles(table, row))} == {None}


def _titles(table: PassageTable, row: NearRow) -> list[str]:
    return [table.vault.graph.paths[table.rows[side].note] for side in (row.first, row.second)]
