"""From propose-only to applied without a tick: earned, switched on by a person, and taken back like anything else."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from aria_dream.cli import main
from aria_dream.dream import injection
from aria_dream.dream.injection import InjectionResult
from aria_dream.effects.graduation import read_graduated
from aria_dream.effects.live_policy import read_live_policy
from aria_dream.effects.places import find_places
from aria_dream.effects.records import RecordBook
from aria_dream.review.proposal import Kind, Proposal, event_record, proposal_id
from tests.proposed import lay_out, open_desk, own_files, propose
from tests.reviewed import COMPOST, PLACED, REVIEW, SLACK, apply, id_of, night, run, states, tick

if TYPE_CHECKING:
    from pathlib import Path

LINK, OTHER = id_of(COMPOST), id_of(SLACK)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def book_of(vault: Path) -> RecordBook:
    folder = read_live_policy(vault.resolve(), find_places()).state_folder(find_places())
    folder.mkdir(parents=True, exist_ok=True)
    return RecordBook(folder)


def nights(vault: Path, count: int = 10, *, rejected: int = 0, kind: Kind = "link") -> RecordBook:
    """A track record: so many nights with a link that was ticked and placed, and some that were refused."""
    book = book_of(vault)
    for number in range(count + rejected):
        at = datetime.now().astimezone() - timedelta(days=number + 3)
        paths = (f"old/{number}.md", f"old/{number} too.md")
        id_ = proposal_id(kind, paths, 0)
        book.propose([Proposal(id=id_, kind=kind, paths=paths, round=0, at=at, expires_at=None, titles=paths)])
        if number < rejected:
            book.note(event_record("rejected", id_, at, by="tick"))
        else:
            book.note(event_record("approved", id_, at, by="tick"))
            book.note(event_record("applied", id_, at, by="tick"))
    return book


def sure(vault: Path, pair: tuple[str, str], confidence: float) -> None:
    """The journal's record of a proposal of the night, before any look takes it over from the note."""
    at = datetime.now().astimezone()
    titles = tuple(path.removesuffix(".md") for path in pair)
    book_of(vault).propose([
        Proposal(
            id=id_of(pair), kind="link", paths=pair, round=0, at=at, expires_at=None, titles=titles,
            confidence=confidence,
        )
    ])  # fmt: skip


def test_nothing_is_earned_by_default_and_enabling_is_refused(vault: Path) -> None:
    night(vault)
    shown = run("graduation", vault).stdout
    assert "link: not yet" in shown
    assert "of 10" in shown
    refused = run("graduation", vault, "enable", check=False)
    assert refused.returncode == 7
    assert "not enabled" in refused.stderr
    named = run("graduation", vault, "enable", "--kind", "link", check=False)
    assert "qualifying nights" in named.stderr
    assert not read_graduated(book_of(vault).folder)
    assert run("graduation", vault, "disable").returncode == 0


def test_eligible_changes_nothing_until_a_person_enables_it(vault: Path, home: Path) -> None:
    note = night(vault)
    nights(vault)
    sure(vault, COMPOST, 0.9)
    sure(vault, SLACK, 0.84)
    shown = json.loads(run("graduation", vault, "--kind", "link", "--json").stdout)
    assert (shown["kinds"][0]["eligible"], shown["kinds"][0]["enabled"]) == (True, False)
    assert 0 < shown["kinds"][0]["acceptance_at_least"] < 1
    assert apply(vault)["applied"] == []
    assert "applied without a tick" in run("graduation", vault, "enable").stdout
    done = apply(vault)
    assert done["applied"] == [LINK]  # the other one is below the floor
    assert (vault / "Compost.md").read_text(encoding="utf-8") == PLACED
    assert states(home)[LINK].approved_by == "auto"
    assert "undo until" in note.read_text(encoding="utf-8")
    assert LINK not in (vault / REVIEW).read_text(encoding="utf-8")
    tick(note, LINK, "-undo")
    assert apply(vault)["undone"] == [LINK]
    # one of eleven was taken back: the bar is not met any more, and nothing passes until it is
    assert "resting below the bars" in run("graduation", vault).stdout


def test_disabling_always_works(vault: Path) -> None:
    night(vault)
    nights(vault)
    sure(vault, COMPOST, 0.9)
    run("graduation", vault, "enable", "--kind", "link")
    assert read_graduated(book_of(vault).folder)
    run("graduation", vault, "disable")
    assert not read_graduated(book_of(vault).folder)
    assert apply(vault)["applied"] == []


def test_a_tick_of_the_writers_goes_before(vault: Path, home: Path) -> None:
    note = night(vault)
    nights(vault)
    sure(vault, COMPOST, 0.99)
    sure(vault, SLACK, 0.99)
    run("graduation", vault, "enable")
    tick(note, LINK, "-no")
    tick(note, OTHER)
    tick(note, OTHER, "-no")
    done = apply(vault)
    assert (done["applied"], done["rejected"], done["asked"]) == ([], [LINK], [OTHER])
    assert states(home)[OTHER].state == "proposed"


def test_too_many_refusals_are_told(vault: Path) -> None:
    night(vault)
    nights(vault, rejected=2)
    refused = run("graduation", vault, "enable", "--kind", "link", check=False)
    assert refused.returncode == 7
    assert "you accepted 83%" in refused.stderr


def test_obsolete_is_never_enabled(vault: Path) -> None:
    night(vault)
    nights(vault, kind="obsolete")
    refused = run("graduation", vault, "enable", "--kind", "obsolete", check=False)
    assert refused.returncode == 7
    assert "always waits for you" in refused.stderr


def test_a_damaged_switch_lets_nothing_pass(vault: Path) -> None:
    night(vault)
    nights(vault)
    sure(vault, COMPOST, 0.9)
    run("graduation", vault, "enable")
    path = book_of(vault).folder / "graduation.json"
    for damaged in ("", "{", "[]", '{"version":2,"enabled":{"link":"2026-11-30T07:41:00+01:00"}}', '{"version":1}'):
        path.write_text(damaged, encoding="utf-8")
        assert not read_graduated(path.parent)
    assert apply(vault)["applied"] == []


@pytest.mark.parametrize("result", [InjectionResult(41, ("closing the sentinel: it escapes",)), InjectionResult(0, ())])
def test_enabling_is_refused_where_text_that_gives_orders_gets_through(
    vault: Path, monkeypatch: pytest.MonkeyPatch, result: InjectionResult
) -> None:
    night(vault)
    nights(vault)
    monkeypatch.setattr(injection, "injection_check", lambda: result)
    done = CliRunner().invoke(main, ["graduation", str(vault), "enable"])
    assert done.exit_code == 7
    assert "text that gives orders" in done.output
    assert not read_graduated(book_of(vault).folder)


def test_a_closed_policy_applies_nothing(vault: Path) -> None:
    night(vault)
    (vault / "dreaming.md").write_text(
        "---\naria-dream: policy\naria-dream-id: abcdefgh23456723\n---\n- placement: none\n", encoding="utf-8"
    )
    nights(vault)
    sure(vault, COMPOST, 0.9)
    run("graduation", vault, "enable")
    done = apply(vault)
    assert (done["applied"], done["approved"]) == ([], [])


@pytest.mark.parametrize("kind", ["merge", "update", "resolve_contradiction", "place_orphan", "obsolete"])
def test_each_kind_earns_for_itself_and_what_passed_can_be_undone(vault: Path, home: Path, kind: Kind) -> None:
    lay_out(vault)
    before = own_files(vault)
    nights(vault, kind=kind)
    run("graduation", vault, "enable", "--kind", kind, check=kind != "obsolete")
    desk = open_desk(vault)
    id_, other = propose(desk, kind), propose(desk, "update" if kind != "update" else "resolve_contradiction")
    done = apply(vault)
    text = (vault / REVIEW).read_text(encoding="utf-8")
    assert f"^aria-{other}-no" in text  # another kind waits, and so does what never passes
    if kind == "obsolete":
        assert done["applied"] == []
        assert f"^aria-{id_}-no" in text
        return
    assert done["applied"] == [id_]
    assert own_files(vault) != before
    assert f"^aria-{id_}-undo" in text
    tick(vault / REVIEW, id_, "-undo")
    assert apply(vault)["undone"] == [id_]
    assert own_files(vault) == before
    assert apply(vault)["applied"] == []  # what a person took back waits for that person
    if kind == "resolve_contradiction":
        assert states(home)[id_].state == "proposed"
