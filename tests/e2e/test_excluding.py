"""Approved in bulk, two changes that exclude each other: one is carried out, the other is told, and the exit code says
so. A passage of the note that a merge keeps excludes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aria_dream.review.proposal import Proposal, proposal_id
from tests.proposed import lay_out, open_session, propose
from tests.reviewed import run

if TYPE_CHECKING:
    from pathlib import Path


def test_bulk_approval_says_what_it_left_out(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    lay_out(vault)
    session = open_session(vault)
    propose(session, "merge")
    paths = ("Drop.md",)  # the note that the merge takes away
    obsolete = Proposal(
        id=proposal_id("obsolete", paths, 0), kind="obsolete", paths=paths, round=0, at=session.now, expires_at=None,
        titles=("Drop",), reason="over",
    )  # fmt: skip
    session.store.propose([obsolete])
    done = run("review", vault, "--approve", "--all", check=False)
    assert done.returncode == 6, done.stdout
    assert "only one of the two can be done" in done.stdout
    assert not (vault / "Drop.md").exists()


def test_a_passage_and_the_merge_that_keeps_its_note(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    lay_out(vault)
    session = open_session(vault)
    merge, update = propose(session, "merge"), propose(session, "update")  # both are about Keep
    done = run("review", vault, "--approve", "--all")
    assert f"({merge})" in done.stdout
    assert f"({update})" in done.stdout
