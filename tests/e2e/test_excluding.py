"""Approved in bulk, two changes of one pair: one is carried out, the other is told, and the exit code says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.proposed import lay_out, open_desk, propose
from tests.reviewed import run

if TYPE_CHECKING:
    from pathlib import Path


def test_bulk_approval_says_what_it_left_out(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    lay_out(vault)
    desk = open_desk(vault)
    merge, update = propose(desk, "merge"), propose(desk, "update")  # both are about Keep
    done = run("review", vault, "--approve", "--all", check=False)
    assert done.returncode == 6
    assert f"({update})" in done.stdout
    assert "only one of the two can be done" in done.stdout
    assert (vault / "Drop.md").exists()
    again = run("review", vault, merge)
    assert "again: “Change: Old › Heap · Keep” is about the same notes" in again.stdout
