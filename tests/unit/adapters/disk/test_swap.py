"""The system calls under every write."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.disk import swap

if TYPE_CHECKING:
    from pathlib import Path


def test_an_exchange_swaps_two_files(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"1")
    two.write_bytes(b"2")
    inode = one.stat().st_ino
    swap.exchange(one, two)
    assert (one.read_bytes(), two.read_bytes(), two.stat().st_ino) == (b"2", b"1", inode)


def test_an_exchange_with_nothing_changes_nothing(tmp_path: Path) -> None:
    one = tmp_path / "one"
    one.write_bytes(b"1")
    with pytest.raises(FileNotFoundError):
        swap.exchange(one, tmp_path / "two")
    assert [place.name for place in tmp_path.iterdir() if place.is_file()] == ["one"]


def _answering(code: int) -> object:
    def call(*_arguments: object) -> int:
        import ctypes

        ctypes.set_errno(code)
        return -1

    return lambda _name: call


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.EINVAL, errno.ENOTSUP])
def test_a_file_system_that_knows_no_exchange_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(swap, "_libc_function", _answering(code))
    with pytest.raises(swap.ExchangeUnavailableError):
        swap.exchange(tmp_path / "one", tmp_path / "two")


def test_a_system_without_the_call_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swap, "_libc_function", lambda _name: None)
    with pytest.raises(swap.ExchangeUnavailableError):
        swap.exchange(tmp_path / "one", tmp_path / "two")


@pytest.mark.parametrize("way", ["rename", "link", "neither"])
def test_a_rename_takes_only_a_free_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    if way != "rename":
        monkeypatch.setattr(swap, "_libc_function", lambda _name: None)
    if way == "neither":

        def no_link(*_arguments: object) -> None:
            raise OSError(errno.EPERM, "no links here")

        monkeypatch.setattr("os.link", no_link)
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"1")
    two.write_bytes(b"2")
    with pytest.raises(FileExistsError):
        swap.rename_new(one, two)
    assert (one.read_bytes(), two.read_bytes()) == (b"1", b"2")
    two.unlink()
    swap.rename_new(one, two)
    assert two.read_bytes() == b"1"
    assert not one.exists()


def test_an_error_that_is_no_sharing_violation_is_not_tried_again() -> None:
    calls: list[str] = []

    def call() -> None:
        calls.append("")
        raise PermissionError(errno.EACCES, "Permission denied")

    with pytest.raises(PermissionError):
        swap.retry_call(call, lambda _pause_s: pytest.fail("waited"))
    assert len(calls) == 1
