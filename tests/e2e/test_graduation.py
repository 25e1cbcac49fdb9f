"""From propose-only to applied without a tick: earned, switched on by a person, and taken back like anything else."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.adapters.state.graduation import read_graduated
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.cli import main
from aria_dream.consolidate.note_merges import NoteMerge, plan_note_merge
from aria_dream.injection import injection
from aria_dream.injection.injection import InjectionResult
from aria_dream.markdown.note import NotePath
from aria_dream.review.proposal import Kind, Proposal, event_record, planned_record, proposal_id
from aria_dream.vault.edit import content_hash
from tests.proposed import LOST, lay_out, open_session, own_files, propose
from tests.reviewed import COMPOST, PLACED, REVIEW, SLACK, apply, id_of, night, run, states, tick, write

if TYPE_CHECKING:
    from pathlib import Path

LINK, OTHER = id_of(COMPOST), id_of(SLACK)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def book_of(vault: Path) -> RecordStore:
    folder = read_live_policy(vault.resolve(), find_places()).state_folder(find_places())
    folder.mkdir(parents=True, exist_ok=True)
    return RecordStore(folder)


def nights(vault: Path, count: int = 10, *, rejected: int = 0, kind: Kind = "link") -> RecordStore:
    """A track record: so many nights with a link that was ticked and placed, and some that were refused."""
    store = book_of(vault)
    for number in range(count + rejected):
        at = datetime.now().astimezone() - timedelta(days=number + 3)
        paths = (f"old/{number}.md", f"old/{number} too.md")
        id_ = proposal_id(kind, paths, 0)
        store.propose([Proposal(id=id_, kind=kind, paths=paths, round=0, at=at, expires_at=None, titles=paths)])
        if number < rejected:
            store.note(event_record("rejected", id_, at, by="tick"))
        else:
            store.note(event_record("approved", id_, at, by="tick"))
            store.note(event_record("applied", id_, at, by="tick"))
    return store


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
    assert "[ ] undo: linked in" in note.read_text(encoding="utf-8")
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


KILN = "Fire the kiln for nine hours, let it cool for two days, and never open it before it is at ninety degrees.\n"


def propose_merge(vault: Path, keep: str, drop: str) -> str:
    """A merge as a model that is very sure would have it."""
    session = open_session(vault)
    found = plan_note_merge(session.view((keep, drop), inbound=True, goes=True), NotePath(keep), [NotePath(drop)])
    assert isinstance(found, NoteMerge), found
    id_ = proposal_id("merge", (keep, drop), 0)
    session.store.propose([
        Proposal(
            id=id_, kind="merge", paths=(keep, drop), round=0, at=session.now, expires_at=None,
            titles=(keep[:-3], drop[:-3]), confidence=0.99, reason="both say the same", judge="a model",
            evidence={"body": found.body},
            hashes={path: content_hash((vault / path).read_bytes()) for path in (keep, drop)},
        )
    ])  # fmt: skip
    session.store.note(planned_record(id_, found.planned.edits, session.now))
    return id_


def graduate(vault: Path, kind: Kind) -> None:
    """The kind has earned to pass, and a person lets it."""
    nights(vault, kind=kind)
    run("graduation", vault, "enable", "--kind", kind)


def test_a_merge_of_what_is_the_same_passes_and_can_be_undone(vault: Path) -> None:
    lay_out(vault)
    for name in ("Kiln.md", "Kiln 1.md"):
        write(vault, name, KILN)
    write(vault, "Fire.md", "See [the kiln][k].\n\n[k]: <Kiln 1.md> 'it'\n")
    before = own_files(vault)
    graduate(vault, "merge")
    id_ = propose_merge(vault, "Kiln.md", "Kiln 1.md")
    assert apply(vault)["applied"] == [id_]
    assert "[k]: <Kiln.md> 'it'" in (vault / "Fire.md").read_text(encoding="utf-8")
    assert f"^aria-{id_}-undo" in (vault / REVIEW).read_text(encoding="utf-8")
    tick(vault / REVIEW, id_, "-undo")
    assert apply(vault)["undone"] == [id_]
    assert own_files(vault) == before
    assert apply(vault)["applied"] == []  # what a person took back waits for that person


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (KILN, KILN.replace("never open it", "open it")),
        (f"---\nstatus: sold\n---\n{KILN}", f"---\nstatus: owned\n---\n{KILN}"),
    ],
)
def test_a_merge_on_a_hunch_waits_and_says_why(vault: Path, home: Path, one: str, other: str) -> None:
    """However sure the model is; the reason stands in the review, and a tick carries it out."""
    lay_out(vault)
    write(vault, "Kiln.md", one)
    write(vault, "Kiln 1.md", other)
    before = own_files(vault)
    graduate(vault, "merge")
    id_ = propose_merge(vault, "Kiln.md", "Kiln 1.md")
    done = apply(vault)
    assert (done["applied"], done["approved"]) == ([], [])
    assert "waits for your tick" in done["said"][0]
    assert own_files(vault) == before
    assert "\nwaits for your tick: “Kiln” and “Kiln 1” are not the same" in (vault / REVIEW).read_text(encoding="utf-8")
    assert "waits for your tick" in run("review", vault, id_).stdout
    assert apply(vault)["said"] == []  # told once, and never tried again
    tick(vault / REVIEW, id_)
    assert apply(vault)["applied"] == [id_]
    assert states(home)[id_].approved_by == "tick"


@pytest.mark.parametrize("kind", ["update", "resolve_contradiction", "obsolete"])
def test_each_kind_waits_where_something_would_be_lost(vault: Path, kind: Kind) -> None:
    lay_out(vault)
    before = own_files(vault)
    nights(vault, kind=kind)
    run("graduation", vault, "enable", "--kind", kind, check=kind != "obsolete")
    id_ = propose(open_session(vault), kind, evidence={})
    assert apply(vault)["applied"] == []
    assert own_files(vault) == before
    text = (vault / REVIEW).read_text(encoding="utf-8")
    assert f"^aria-{id_}-no" in text
    assert ("\nwaits for your tick: " in text) == (kind != "obsolete")


@pytest.mark.parametrize("loses", [False, True])
def test_a_new_note_passes_unless_its_proposal_tells_of_a_loss(vault: Path, *, loses: bool) -> None:
    lay_out(vault)
    before = own_files(vault)
    graduate(vault, "place_orphan")
    session = open_session(vault)
    id_, other = propose(session, "place_orphan", evidence=LOST if loses else {}), propose(session, "update")
    done = apply(vault)
    assert f"^aria-{other}-no" in (vault / REVIEW).read_text(encoding="utf-8")  # another kind waits
    assert done["applied"] == ([] if loses else [id_])
    if not loses:
        tick(vault / REVIEW, id_, "-undo")
        assert apply(vault)["undone"] == [id_]
    assert own_files(vault) == before


def test_a_link_waits_while_its_notes_are_in_another_proposal(vault: Path) -> None:
    night(vault)
    nights(vault)
    sure(vault, COMPOST, 0.95)
    run("graduation", vault, "enable", "--kind", "link")
    book_of(vault).propose([
        Proposal(
            id=proposal_id("obsolete", (COMPOST[0],), 0), kind="obsolete", paths=(COMPOST[0],), round=0,
            at=datetime.now().astimezone(), expires_at=None, titles=("Compost",),
        )
    ])  # fmt: skip
    done = apply(vault)
    assert done["applied"] == []
    assert "another proposal about" in done["said"][0]
