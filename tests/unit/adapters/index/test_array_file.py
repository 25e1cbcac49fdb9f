"""Arrays in one file of the cache: what was written comes back, and nothing else ever does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aria_dream.adapters.index.cache_store import drop_arrays, read_arrays, write_arrays

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

KEY, OTHER = b"k" * 32, b"o" * 32
KINDS = st.sampled_from(["<i8", "<i4", "<u4", "<f4", "|b1"])


@st.composite
def tables(draw: st.DrawFn) -> dict[str, npt.NDArray[Any]]:
    names = draw(st.lists(st.text(max_size=5), unique=True, max_size=4))
    return {
        name: np.array(draw(st.lists(st.integers(0, 1), max_size=40)), dtype=np.dtype(draw(KINDS))) for name in names
    }


def same(one: dict[str, npt.NDArray[Any]] | None, other: dict[str, npt.NDArray[Any]]) -> bool:
    return (
        one is not None
        and list(one) == list(other)
        and all(one[name].dtype == other[name].dtype and np.array_equal(one[name], other[name]) for name in other)
    )


@settings(max_examples=60, deadline=None)
@given(tables())
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, arrays: dict[str, npt.NDArray[Any]]
) -> None:
    file = tmp_path_factory.mktemp("cache") / "deep" / "arrays.bin"
    write_arrays(file, KEY, arrays)
    assert same(read_arrays(file, KEY), arrays)
    assert read_arrays(file, OTHER) is None
    assert [path.name for path in file.parent.iterdir()] == ["arrays.bin"]


@settings(max_examples=200, deadline=None)
@given(at=st.integers(0, 10_000), flip=st.integers(1, 255), cut=st.booleans())
def test_a_damaged_file_is_none_at_all(
    tmp_path_factory: pytest.TempPathFactory, at: int, flip: int, cut: bool
) -> None:
    file = tmp_path_factory.mktemp("cache") / "arrays.bin"
    arrays: dict[str, npt.NDArray[Any]] = {
        "numbers": np.arange(70, dtype=np.int64),
        "none": np.zeros(0, dtype=np.float32),
        "flags": np.ones(9, dtype=np.bool_),
    }
    write_arrays(file, KEY, arrays)
    whole = bytearray(file.read_bytes())
    at %= len(whole)
    if cut:
        del whole[at:]
    else:
        whole[at] ^= flip
    file.write_bytes(whole)
    found = read_arrays(file, KEY)
    assert found is None or (52 <= at < 112 and same(found, arrays)), "only the empty part of the head may change"


@pytest.mark.parametrize("content", [b"", b"\0" * 4096, b"SQLite format 3\0" * 100, None])
def test_a_file_that_is_not_ours_counts_as_none_and_is_replaced(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "arrays.bin"
    if content is not None:
        file.write_bytes(content)
    assert read_arrays(file, KEY) is None
    write_arrays(file, KEY, {"a": np.arange(3)})
    assert same(read_arrays(file, KEY), {"a": np.arange(3)})


def test_what_is_in_use_stays_as_it_was_when_others_take_its_place(tmp_path: Path) -> None:
    file = tmp_path / "arrays.bin"
    write_arrays(file, KEY, {"a": np.arange(3)})
    used = read_arrays(file, KEY)
    assert used is not None
    write_arrays(file, OTHER, {"a": np.arange(9)})
    assert used["a"].tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="read-only"):
        used["a"][0] = 1


def test_what_a_process_that_was_ended_left_is_cleared(tmp_path: Path) -> None:
    file = tmp_path / "cache" / "arrays.bin"
    file.parent.mkdir()
    file.with_name("arrays.bin.4711.tmp").write_bytes(b"half")
    write_arrays(file, KEY, {"a": np.arange(3)})
    assert [path.name for path in file.parent.iterdir()] == ["arrays.bin"]


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where the folder should be", encoding="utf-8")
    file = tmp_path / "taken" / "arrays.bin"
    write_arrays(file, KEY, {"a": np.arange(3)})
    assert read_arrays(file, KEY) is None
    drop_arrays(file)
