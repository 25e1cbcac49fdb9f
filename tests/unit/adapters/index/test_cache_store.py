"""The content cache: kept, found again, rebuilt when damaged, bypassed when unusable, safe with two processes."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from aria_dream.adapters.index.cache_store import FILE_NAME, ContentCache
from aria_dream.adapters.models.embedding import read_passages, read_vectors, write_passages, write_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

REPOSITORY = Path(__file__).resolve().parents[4]


def key(number: int) -> bytes:
    return hashlib.sha256(str(number).encode()).digest()


def unit_vectors(count: int, dim: int = 8) -> NDArray[np.float32]:
    rows = np.random.default_rng(7).standard_normal((count, dim)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def test_what_was_put_is_found_by_another_connection(tmp_path: Path) -> None:
    blobs = {key(i): bytes([i % 256]) * i for i in range(1, 1200)}
    with ContentCache(tmp_path / "cache") as cache:
        cache.put_many("terms", blobs)
        cache.put_many("other", {key(1): b"another kind"})
    with ContentCache(tmp_path / "cache") as cache:
        assert cache.get_many("terms", list(blobs)) == blobs
        assert cache.get_many("terms", [key(3), key(99_999)]) == {key(3): bytes([3]) * 3}
        assert cache.get_many("other", [key(1)]) == {key(1): b"another kind"}
        assert cache.get_many("never put", [key(1)]) == {}
        assert cache.get_many("terms", []) == {}


def test_a_later_value_replaces_the_earlier(tmp_path: Path) -> None:
    with ContentCache(tmp_path) as cache:
        cache.put_many("k", {key(1): b"old"})
        cache.put_many("k", {key(1): b"new"})
        assert cache.get_many("k", [key(1)]) == {key(1): b"new"}


def test_retain_only_drops_the_rest_of_every_kind_and_its_bytes(tmp_path: Path) -> None:
    secret = b"the canary of a note that became invisible" * 20
    with ContentCache(tmp_path) as cache:
        cache.put_many("a", {key(1): secret, key(2): b"stays"})
        cache.put_many("b", {key(1): secret})
        assert cache.retain_only([key(2), key(3)]) == 2
        assert cache.get_many("a", [key(1), key(2)]) == {key(2): b"stays"}
        assert cache.get_many("b", [key(1)]) == {}
    assert b"canary" not in (tmp_path / FILE_NAME).read_bytes()


def test_what_is_the_vaults_own_stays_when_notes_go(tmp_path: Path) -> None:
    with ContentCache(tmp_path) as cache:
        cache.put("vault:lesson", b"learned")
        cache.put_many("vaults", {key(1): b"of a note"})
        assert cache.retain_only([]) == 1
        assert cache.get("vault:lesson") == b"learned"
        assert cache.get("vaults") == b""


def test_some_keys_go_or_all_but_the_new_ones(tmp_path: Path) -> None:
    found: dict[bytes, bytes] = {}
    with ContentCache(tmp_path) as cache:
        cache.put_many("k", {key(1): b"1", key(2): b"2", key(3): b"3"})
        assert cache.put_many("k", {key(4): b"4"}, without=[key(1), key(9)])
        assert cache.each("k", found.__setitem__)
        assert found == {key(2): b"2", key(3): b"3", key(4): b"4"}
        assert cache.put_many("k", {key(5): b"5"}, alone=True)
        assert cache.get_many("k", [key(number) for number in range(9)]) == {key(5): b"5"}


def test_what_earlier_versions_kept_is_gone_as_soon_as_the_store_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    for name in ("index.sqlite3", "vectors.sqlite3", "weights.json"):
        (folder / name).write_bytes(b"the canary of a note")
    with ContentCache(folder) as cache:
        cache.put("vault:lesson", b"learned")
    assert [path.name for path in folder.iterdir()] == [FILE_NAME]


def test_no_folder_keeps_nothing() -> None:
    with ContentCache(None) as cache:
        assert not cache.put_many("k", {key(1): b"1"})
        assert not cache.each("k", lambda _key, _blob: None)


@pytest.mark.parametrize(
    "content",
    [b"", b"not a database at all" * 500, b"SQLite format 3\x00" + b"\xff" * 4000],
    ids=["empty", "text", "torn header"],
)
def test_a_damaged_file_is_rebuilt(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with ContentCache(tmp_path) as cache:
        assert cache.get_many("k", [key(1)]) == {}
        cache.put_many("k", {key(1): b"value"})
        assert cache.get_many("k", [key(1)]) == {key(1): b"value"}


def test_damage_in_the_middle_is_rebuilt(tmp_path: Path) -> None:
    with ContentCache(tmp_path) as cache:
        cache.put_many("k", {key(i): bytes(900) for i in range(500)})
    content = bytearray((tmp_path / FILE_NAME).read_bytes())
    content[4096:-4096] = b"\xa5" * (len(content) - 8192)
    (tmp_path / FILE_NAME).write_bytes(content)
    with ContentCache(tmp_path) as cache:
        assert cache.get_many("k", [key(i) for i in range(500)]) == {}
        cache.put_many("k", {key(1): b"value"})
        assert cache.get_many("k", [key(1)]) == {key(1): b"value"}


def test_a_foreign_database_is_rebuilt(tmp_path: Path) -> None:
    foreign = sqlite3.connect(tmp_path / FILE_NAME)
    foreign.execute("CREATE TABLE kinds (something TEXT)")
    foreign.commit()
    foreign.close()
    with ContentCache(tmp_path) as cache:
        cache.put_many("k", {key(1): b"value"})
        assert cache.get_many("k", [key(1)]) == {key(1): b"value"}


def test_a_file_of_another_schema_version_is_rebuilt(tmp_path: Path) -> None:
    with ContentCache(tmp_path) as cache:
        cache.put_many("k", {key(1): b"value"})
    later = sqlite3.connect(tmp_path / FILE_NAME)
    later.execute("PRAGMA user_version = 99")
    later.close()
    with ContentCache(tmp_path) as cache:
        assert cache.get_many("k", [key(1)]) == {}
        cache.put_many("k", {key(2): b"v"})
        assert cache.get_many("k", [key(2)]) == {key(2): b"v"}


def test_a_locked_file_is_bypassed_for_the_moment_only(tmp_path: Path) -> None:
    with ContentCache(tmp_path, busy_timeout_s=0.05) as cache:
        cache.put_many("k", {key(1): b"value"})
        other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        cache.put_many("k", {key(2): b"lost"})
        assert cache.get_many("k", [key(1)]) == {}
        assert cache.retain_only([]) == 0
        other.execute("ROLLBACK")
        other.close()
        assert cache.get_many("k", [key(1), key(2)]) == {key(1): b"value"}


def test_a_folder_that_cannot_be_made_is_bypassed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with ContentCache(tmp_path / "file" / "cache") as cache:
        assert not cache.put_many("k", {key(1): b"value"})
        assert cache.get_many("k", [key(1)]) == {}


def test_vectors_come_back_in_order_and_the_unknown_are_zero(tmp_path: Path) -> None:
    vectors = unit_vectors(20)
    keys = [key(i) for i in range(20)]
    with ContentCache(tmp_path) as cache:
        write_vectors(cache, "v", keys, vectors)
        asked = [keys[5], key(777), keys[0], keys[5]]
        found, known = read_vectors(cache, "v", asked, 8)
    assert known.tolist() == [True, False, True, True]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[[0, 2, 3]], vectors[[5, 0, 5]], atol=1e-3)
    assert not found[1].any()


def test_torn_vectors_count_as_unknown(tmp_path: Path) -> None:
    good = unit_vectors(1).astype("<f2").tobytes()
    blobs = {key(0): good, key(1): good[:-2], key(2): b"", key(3): b"\xff" * 16, key(4): bytes(16)}
    with ContentCache(tmp_path) as cache:
        cache.put_many("v", blobs)
        found, known = read_vectors(cache, "v", [key(i) for i in range(5)], 8)
    assert known.tolist() == [True, False, False, False, False]
    assert np.isfinite(found).all()


WRITER = """
import hashlib, sys
from pathlib import Path
from aria_dream.adapters.index.cache_store import ContentCache
folder, name = Path(sys.argv[1]), sys.argv[2]
with ContentCache(folder, busy_timeout_s=30) as cache:
    for number in range(60):
        cache.put_many("k", {hashlib.sha256(f"{name}{number}".encode()).digest(): f"{name}{number}".encode()})
"""


def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name], env=environment) for name in ("a", "b")
    ]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
    expected = {
        hashlib.sha256(f"{name}{i}".encode()).digest(): f"{name}{i}".encode() for name in ("a", "b") for i in range(60)
    }
    with ContentCache(tmp_path) as cache:
        assert cache.get_many("k", list(expected)) == expected


def test_passages_come_back_nearly_as_they_were_and_torn_ones_not_at_all(tmp_path: Path) -> None:
    rows = unit_vectors(7, dim=64)
    with ContentCache(tmp_path) as cache:
        write_passages(cache, "passages", {key(1): rows[:3], key(2): rows[3:], key(3): rows[:1]})
        cache.put_many("passages", {key(3): b"torn", key(4): bytes(64), key(5): b""})
        asked = [key(number) for number in (2, 1, 3, 4, 5, 6)]
        found = read_passages(cache, "passages", asked, 64)
    assert [part.shape for part in found] == [(4, 64), (3, 64), (0, 64), (0, 64), (0, 64), (0, 64)]
    np.testing.assert_allclose(found[1] @ rows[:3].T, rows[:3] @ rows[:3].T, atol=0.02)
    np.testing.assert_allclose(np.linalg.norm(found[0], axis=1), 1.0, atol=1e-5)
