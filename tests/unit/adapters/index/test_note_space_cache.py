"""What is kept of all notes' words together: never another ranking than without it, and never a hidden note's words."""

from __future__ import annotations

import ast
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import aria_dream
from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.cache_store import ContentCache, read_arrays
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.index.resonance import (
    _SPACE_MODULES,
    SPACE_FILE,
    VaultRanker,
    build_ranking,
    space_key,
)
from aria_dream.ranking.learn import prior_weights
from aria_dream.ranking.terms import term_ids

if TYPE_CHECKING:
    from collections.abc import Callable

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.ranking.juxtaposition import Juxtaposition
    from aria_dream.ranking.learn import Weights

REPOSITORY = Path(__file__).resolve().parents[4]
WORDS = ["soil", "worm", "bread", "crust", "river", "stone", "winter", "light", "memory", "garden", "東京", "café"]


def write_vault(root: Path) -> None:
    """Forty notes of chance words, names, links, tags and folders; the same every time."""
    chance = random.Random(7)
    names = [f"{chance.choice(['', 'a/', 'a/b/', 'c/'])}{chance.choice(WORDS)} {number}" for number in range(100, 140)]
    for name in names:
        alias, tag = f"{chance.choice(WORDS)} {chance.randrange(1000, 9999)}", chance.choice(WORDS)
        head = f"---\naliases: [{alias}]\ntags: [{tag}]\n---\n"
        prose = " ".join(chance.choices(WORDS, k=60))
        links = " ".join(f"[[{chance.choice(names)}]]" for _ in range(3))
        path = root / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = f"{head}{prose} {chance.choice(names).rpartition('/')[2]} and [[gone {chance.randrange(5)}]]\n{links}\n"
        path.write_text(text, encoding="utf-8")


def read(root: Path, places: Places) -> DreamtVault:
    return read_dreamt_vault(root, places, environ={})


def rank(
    vault: DreamtVault, places: Places, weights: Weights | None = None
) -> tuple[list[list[Juxtaposition]], list[object]]:
    """Everything that the ranking says of the vault: of each note alone, and of all at once."""
    with ContentCache(places.vault_cache(vault.root)) as cache:
        ranker = VaultRanker(vault, build_ranking(vault, cache, weights=weights))
        alone = [ranker.resonances(path, 5) for path in vault.graph.paths]
        return alone, [*ranker.all(5), ranker.learned()]


def key_of(root: Path, places: Places) -> bytes | None:
    return space_key(read(root, places))


def places_in(folder: Path) -> Places:
    return Places(state=folder / "state", cache=folder / "cache")


def kept(root: Path, places: Places) -> Path:
    return places.vault_cache(root.resolve()) / SPACE_FILE


@pytest.mark.parametrize("example", [True, False])
def test_the_kept_space_ranks_as_a_fresh_one_to_the_last_bit(tmp_path: Path, example: bool) -> None:
    root, places = tmp_path / "vault", places_in(tmp_path)
    if example:
        shutil.copytree(REPOSITORY / "examples" / "vault", root)
    else:
        write_vault(root)
    vault = read(root, places)
    first = rank(vault, places)
    assert any(first[0])
    assert any(term.name == "mention" and term.value for found in first[0] for one in found for term in one.evidence)
    written = kept(root, places).stat()
    again = rank(read(root, places), places)
    assert kept(root, places).stat().st_ino == written.st_ino, "it was used, not made anew"
    assert again == first
    assert rank(read(root, places_in(tmp_path / "fresh")), places_in(tmp_path / "fresh")) == first


def rewrite(root: Path, old: str, new: str, place: str = "one.md") -> None:
    path = root / place
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def move(root: Path, old: str, new: str) -> None:
    (root / new).parent.mkdir(parents=True, exist_ok=True)
    (root / old).rename(root / new)


def swap(root: Path) -> None:
    for old, new in (("one", "other"), ("two", "one"), ("other", "two")):
        move(root, f"{old}.md", f"{new}.md")


def ignore(root: Path) -> None:
    (root / ".obsidian").mkdir()
    (root / ".obsidian" / "app.json").write_text('{"userIgnoreFilters": ["one"]}', encoding="utf-8")


ONE = "---\naliases: [Uno]\ntags: [soil]\n---\nworms turn soil [[two]] all winter\n"
CHANGES: dict[str, Callable[[Path], object]] = {
    "a word": lambda root: rewrite(root, "worms", "moles"),
    "a link": lambda root: rewrite(root, "[[two]]", "[[three]]"),
    "an alias": lambda root: rewrite(root, "Uno", "Ein"),
    "a tag": lambda root: rewrite(root, "tags: [soil]", "tags: [snow]"),
    "a folder": lambda root: move(root, "one.md", "deep/one.md"),
    "a name": lambda root: move(root, "one.md", "eins.md"),
    "a new note": lambda root: (root / "four.md").write_text("four", encoding="utf-8"),
    "a note less": lambda root: (root / "three.md").unlink(),
    "two that change places": swap,
    "a note that hides": lambda root: rewrite(root, "tags:", "dream: no\ntags:"),
    "a note that Obsidian ignores": ignore,
    "an exclusion": lambda root: (root / "dreaming.md").write_text(
        "---\naria-dream: policy\n---\n- exclude: #soil\n", encoding="utf-8"
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_every_change_of_a_visible_note_makes_another_space(tmp_path: Path, change: Callable[[Path], object]) -> None:
    root, places = tmp_path / "vault", places_in(tmp_path)
    root.mkdir()
    for name, text in {"one": ONE, "two": "Uno and one, and the soil", "three": "soil of winter [[one]]"}.items():
        (root / f"{name}.md").write_text(text, encoding="utf-8")
    before = key_of(root, places)
    rank(read(root, places), places)
    assert key_of(root, places) == before
    change(root)
    assert key_of(root, places) != before
    fresh = places_in(tmp_path / "fresh")
    weights = prior_weights(3)  # those learned before the change would differ
    assert rank(read(root, places), places, weights) == rank(read(root, fresh), fresh, weights)
    key = key_of(root, places)
    assert key is not None
    assert read_arrays(kept(root, places), key) is not None


def test_our_own_notes_and_hidden_ones_change_nothing(tmp_path: Path) -> None:
    root, places = tmp_path / "vault", places_in(tmp_path)
    root.mkdir()
    (root / "one.md").write_text(ONE, encoding="utf-8")
    (root / "secret.md").write_text("---\ndream: no\n---\none", encoding="utf-8")
    before = key_of(root, places)
    (root / "secret.md").write_text("---\ndream: no\n---\nmore of [[one]]", encoding="utf-8")
    (root / "log.md").write_text("---\naria-dream: log\n---\n[[one]]", encoding="utf-8")
    assert key_of(root, places) == before


def test_the_words_of_a_note_that_hides_are_gone_with_the_next_ranking(tmp_path: Path) -> None:
    root, places = tmp_path / "vault", places_in(tmp_path)
    write_vault(root)
    (root / "secret.md").write_text("zyzzyva under the floor", encoding="utf-8")
    canary = np.array(term_ids("zyzzyva"), dtype="<u4").tobytes()
    rank(read(root, places), places)
    assert canary in kept(root, places).read_bytes()
    (root / "secret.md").write_text("---\ndream: no\n---\nzyzzyva under the floor", encoding="utf-8")
    rank(read(root, places), places)
    assert canary not in kept(root, places).read_bytes()


@pytest.mark.parametrize("damage", [lambda data: data[:200], lambda data: data[:-1] + b"\1", lambda _: b"nothing"])
def test_a_damaged_space_is_made_anew_silently(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    root, places = tmp_path / "vault", places_in(tmp_path)
    write_vault(root)
    first = rank(read(root, places), places)
    sound = kept(root, places).read_bytes()
    kept(root, places).write_bytes(damage(sound))
    assert rank(read(root, places), places) == first
    assert kept(root, places).read_bytes() == sound


def test_a_space_of_a_note_that_changed_since_the_vault_was_read_is_not_kept(tmp_path: Path) -> None:
    root, places = tmp_path / "vault", places_in(tmp_path)
    write_vault(root)
    (root / "one.md").write_text(ONE, encoding="utf-8")
    vault = read(root, places)
    (root / "one.md").write_text("something else altogether", encoding="utf-8")
    rank(vault, places)
    assert not kept(root, places).exists()
    assert rank(read(root, places), places)[0] == rank(read(root, places), places)[0]
    assert kept(root, places).exists()


def test_the_modules_that_the_key_stands_for_are_those_that_make_a_space() -> None:
    folder = Path(aria_dream.__file__).parent / "ranking"
    reached, wanted = set[str](), ["notespace"]
    while wanted:
        module = wanted.pop()
        reached.add(module)
        for node in ast.walk(ast.parse((folder / f"{module}.py").read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("aria_dream.ranking."):
                name = (node.module or "").rpartition(".")[2]
                wanted.extend({name} - reached)
    assert set(_SPACE_MODULES) == reached
