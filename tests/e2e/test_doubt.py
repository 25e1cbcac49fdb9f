"""Where it is not certain what may be seen, nothing is shown; what could not be done is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.errors import WriteRefusedError
from aria_dream.markdown.note import parse_note
from aria_dream.policy.policy import parse_policy
from aria_dream.privacy.sharing import Withheld, excerpt_note, survey
from aria_dream.usecases.dream import DreamRequest, dream_once
from tests.e2e.test_dream import NOTES, dream, make_vault, run
from tests.e2e.test_dream_captures_nothing import NIGHT, EverySecondNote, KeepAll

if TYPE_CHECKING:
    from pathlib import Path

    from aria_dream.notes.episode import EpisodeRecord

POLICY = "---\naria-dream: policy\n---\n"


def written(vault: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in (vault / "dreams").rglob("*.md"))


def test_the_name_of_an_excluded_note_is_nowhere_though_others_link_to_it(tmp_path: Path) -> None:
    linking = {name: f"{NOTES[name]} [[Private/Zanzibarquux]]\n" for name in ("Compost.md", "Sourdough starter.md")}
    vault = make_vault(tmp_path / "vault", {**NOTES, **linking, "Private/Zanzibarquux.md": NOTES["Tax return.md"]})
    (vault / "dreaming.md").write_text(f"{POLICY}- exclude: Private\n", encoding="utf-8")
    found = dream(vault, "--start", "Compost", "--seed", "4")
    assert found["written"]
    told = run("resonances", vault, "--from", "Compost", "--json").stdout + str(found) + written(vault)
    assert "zanzibar" not in told.lower()


@pytest.mark.parametrize(
    "properties",
    [
        "---\ndream: false\nfoo: [unclosed\n---\n",
        "---\ntitle: a: b: c\ndream: no\n---\n",
        "---\n\tdream: false\n---\n",
        "---\ndream: false\ndream: true\n---\n",
        "---\ndream: false\n\nnever closed\n",
    ],
)
def test_properties_that_cannot_be_read_still_forbid_a_dream(tmp_path: Path, properties: str) -> None:
    vault = make_vault(tmp_path / "vault", {**NOTES, "Quiet.md": properties + NOTES["Compost.md"]})
    assert "Quiet" not in run("resonances", vault, "--all", "--json").stdout


@pytest.mark.parametrize("properties", ["---\ntags: [secretive\n---\n", "---\ntags:\n\t- secretive\n---\n"])
def test_a_tag_that_nobody_can_read_may_be_the_one_that_hides(tmp_path: Path, properties: str) -> None:
    vault = make_vault(tmp_path / "vault", {**NOTES, "Quiet.md": properties + NOTES["Compost.md"]})
    assert "Quiet" in run("resonances", vault, "--all", "--json").stdout
    marked = {"Marked.md": "---\ntags: [secretive]\n---\nSomething else.\n"}
    make_vault(vault, marked)
    (vault / "dreaming.md").write_text(f"{POLICY}- exclude: #secretive\n", encoding="utf-8")
    listed = run("resonances", vault, "--all", "--json").stdout
    assert listed
    assert "Quiet" not in listed
    assert "Marked" not in listed


@pytest.mark.parametrize("text", [None, f"{POLICY}- exclude: [\n"])
def test_nothing_is_listed_while_nobody_knows_what_is_excluded(tmp_path: Path, text: str | None) -> None:
    vault = make_vault(tmp_path / "vault", {**NOTES, "People/Ada.md": NOTES["Compost.md"]})
    policy = vault / "dreaming.md"
    policy.write_text(f"{POLICY}- exclude: People\n", encoding="utf-8")
    assert "Ada" not in run("resonances", vault, "--all", "--json").stdout
    if text is None:
        policy.unlink()
    else:
        policy.write_text(text, encoding="utf-8")
    asked: tuple[list[str | Path], ...] = (["resonances", vault, "--all", "--json"], ["eval", "links", vault])
    for words in asked:
        done = run(*words, check=False)
        assert done.returncode == 7, done
        assert "Ada" not in done.stdout + done.stderr
    assert not dream(vault, "--seed", "1")["written"]


def test_a_damaged_review_is_left_alone_and_told(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault")
    run("init", vault)
    review = vault / "dreams" / "Dream review.md"
    damaged = review.read_text(encoding="utf-8").replace("review end", "review endx")
    review.write_text(damaged, encoding="utf-8")
    found = dream(vault, "--start", "Compost", "--seed", "4")
    assert found["written"]
    assert any("Dream review.md" in said for said in found["said"])
    assert review.read_text(encoding="utf-8") == damaged


class NoRoom(RecordStore):
    """The disk is full by the time the journal is written."""

    def remember(self, episode: EpisodeRecord) -> None:
        raise WriteRefusedError(f"{episode.id}: no space left on device")


def test_a_dream_that_is_written_and_cannot_be_remembered_says_so(tmp_path: Path) -> None:
    places = Places(state=tmp_path / "s", cache=tmp_path / "c")
    vault = read_dreamt_vault(make_vault(tmp_path / "vault"), places, environ={})
    state = vault.live.state_folder(places)
    result = dream_once(
        vault,
        DiskVault(vault.root, state),
        NoRoom(state),
        DreamRequest(at=NIGHT, seed=1),
        ranker=lambda _memory: EverySecondNote(vault),
        judge=KeepAll,
    )
    assert result.written
    assert (vault.root / result.note).is_file()
    assert [said for said in result.said if "no space left" in said]


def test_no_text_of_a_note_leaves_whose_properties_cannot_be_read() -> None:
    policy, _ = parse_policy(POLICY)
    sharing, _ = survey([], policy)
    for properties, leaves in (("---\ntags: [open]\n---\n", True), ("---\ntags: [private\n---\n", False)):
        found = excerpt_note(sharing, parse_note(properties + NOTES["Compost.md"]), "Compost.md")
        assert isinstance(found, Withheld) is not leaves
