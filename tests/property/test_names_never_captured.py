"""Whatever a vault holds and links to, creating our files changes the meaning of no link that was there before."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.markdown.link import normal_name
from aria_dream.markdown.note import NotePath, decode_note, parse_note
from aria_dream.policy.file_layout import VaultNames, choose_home, choose_log, choose_policy_name, choose_triggers_name
from aria_dream.policy.policy import POLICY_NAMES
from aria_dream.vault.linkage import name_key
from aria_dream.vault.names import fold_path, path_refusal
from aria_dream.vault.resolve import Resolver

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

DAY = date(2026, 11, 30)


@dataclass(frozen=True, kw_only=True)
class Links:
    """What a vault holds: its files, and who links to what."""

    files: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    """`(source, link path)`."""

    def sources(self, name: str) -> list[str]:
        return [source for source, path in self.links if name_key(path) == name_key(name)]

    def meanings(self, more: Iterable[str] = ()) -> list[str | None]:
        resolver = Resolver((*self.files, *more))
        return [resolver.resolve(path, source) for source, path in self.links]


def everything_we_create(names: VaultNames, wanted: str, policy: str) -> list[str]:
    """Every file that `init` and thirty nights would create, each chosen after the ones before it exist."""
    home = choose_home(names, wanted)
    root = [choose_policy_name(names, policy)[0], choose_triggers_name(names)[0]]
    logs = [choose_log(names, home, DAY + timedelta(days=day)) for day in range(-2, 28)]
    return [path for path in (*root, home.review, home.seeds, home.report, home.canvas, *logs) if path]


def assert_nothing_is_captured(vault: Links, wanted: str = "dreams", policy: str = "dreaming.md") -> list[str]:
    names = VaultNames.of(files=vault.files, markers={}, link_sources=vault.sources)
    ours = everything_we_create(names, wanted, policy)
    assert len({fold_path(path) for path in ours}) == len(ours)
    assert not {fold_path(path) for path in ours} & {fold_path(path) for path in vault.files}
    folders = {fold_path(str(parent)) for path in vault.files for parent in NotePath(path).parents if parent.parts}
    assert fold_path(choose_home(names, wanted).folder) not in folders
    for path in ours:
        assert path_refusal(NotePath(path)) is None
    assert vault.meanings(ours) == vault.meanings()
    return ours


STEMS = (
    "dreaming", "Dreaming", "DREAM", "dream", "triggers", "aria triggers", "aria dreaming", "Dream review",
    "dream review 2", "Dream seeds", "Dream report", "Dream latest", "Dream latest.canvas", "2026-11-30",
    "2026-11-30 dream", "2026-11-30 Dream 2", "2026-12-01 dream", "Compost", "Re\u0301view", "dreams",
)  # fmt: skip
FOLDERS = (
    "", "dreams", "Dreams", "DREAMS", "aria dreams", "Aria Dreams", "aria dreams 2", "Journal", "Journal/dreams",
    "dreams/old",
)  # fmt: skip
BEFORE = ("", "./", "../", "../dreams/", "/", "/dreams/", "dreams/", "aria dreams/", "Dreams/", "old/")
AFTER = ("", ".md", ".MD", ".canvas")


def spelled(text: str, how: int) -> str:
    """`text` as a writer may spell it: as it is, encoded, in capitals, decomposed."""
    import unicodedata
    from urllib.parse import quote

    ways = (text, quote(text), text.replace(" ", "%20"), text.upper(), unicodedata.normalize("NFD", text), f" {text} ",
            text.replace(" ", "\u00a0"), text.replace("ream", "%72%65am"), text.replace("/", "%2F"))  # fmt: skip
    return ways[how % len(ways)]


@st.composite
def vaults(draw: st.DrawFn) -> Links:
    stem, folder = st.sampled_from(STEMS), st.sampled_from(FOLDERS)
    file = st.builds(
        lambda f, s, a: f"{f}/{s}{a}" if f else f"{s}{a}", folder, stem, st.sampled_from((".md", ".canvas"))
    )
    files = tuple(dict.fromkeys(draw(st.lists(file, min_size=1, max_size=12))))
    link = st.builds(
        lambda b, s, a, how: spelled(f"{b}{s}{a}", how), st.sampled_from(BEFORE), stem, st.sampled_from(AFTER),
        st.integers(0, 8),
    )  # fmt: skip
    links = draw(st.lists(st.tuples(st.sampled_from(files), link), max_size=20))
    return Links(files=files, links=tuple((source, normal_name(path)) for source, path in links))


@given(vaults(), st.sampled_from(("dreams", "Dreams", "Journal/dreams", "aria dreams")), st.sampled_from(POLICY_NAMES))
def test_no_link_changes_its_meaning(vault: Links, wanted: str, policy: str) -> None:
    assert_nothing_is_captured(vault, wanted, policy)


@given(vaults())
def test_the_choice_depends_on_the_vault_alone(vault: Links) -> None:
    first = VaultNames.of(files=vault.files, markers={}, link_sources=vault.sources)
    again = VaultNames.of(files=vault.files[::-1], markers={}, link_sources=vault.sources)
    assert everything_we_create(first, "dreams", "dreaming.md") == everything_we_create(again, "dreams", "dreaming.md")


@given(vaults(), st.sampled_from(("dreams", "Journal/dreams")))
def test_what_we_created_is_found_again(vault: Links, wanted: str) -> None:
    """Once our notes lie there with their markers, the next run chooses the very same ones, and no link matters."""
    names = VaultNames.of(files=vault.files, markers={}, link_sources=vault.sources)
    home = choose_home(names, wanted)
    log = choose_log(names, home, DAY)
    markers = {home.review: "review", home.seeds: "seeds", home.report: "report", log: "log"}
    later = VaultNames.of(
        files=(*vault.files, *markers, home.canvas),
        markers=markers,
        link_sources=lambda name: [*vault.sources(name), "x.md"],
    )
    again = choose_home(later, wanted)
    assert (again.folder, again.review, again.seeds, again.report, again.canvas) == (
        home.folder, home.review, home.seeds, home.report, home.canvas,
    )  # fmt: skip
    assert again.exists
    assert choose_log(later, again, DAY) == log


@pytest.mark.parametrize(
    ("files", "links", "taken"),
    [
        (("Dreams/a.md",), (), "dreams"),
        (("dreaming.md",), (), "dreaming.md"),
        (("Dreaming.md",), (), "dreaming.md"),
        (("a.md",), ("dreaming",), "dreaming.md"),
        (("a.md",), ("Dream review",), "dreams/Dream review.md"),
        (("a.md",), ("dreams/2026-11-30 dream",), "dreams/2026-11-30 dream.md"),
        (("x/Dream review.md", "a.md"), ("x/Dream review",), "dreams/Dream review.md"),
        (("a.md",), ("dream%20seeds.md",), "dreams/Dream seeds.md"),
    ],
)
def test_a_name_that_is_taken_is_left_alone(files: tuple[str, ...], links: tuple[str, ...], taken: str) -> None:
    vault = Links(files=files, links=tuple((files[-1], link) for link in links))
    ours = assert_nothing_is_captured(vault)
    assert not any(path == taken or path.startswith(taken + "/") for path in ours)


def test_the_daily_link_of_tomorrow_is_not_captured_and_costs_nothing() -> None:
    ours = assert_nothing_is_captured(Links(files=("a.md",), links=(("a.md", "2026-11-30"),)))
    assert "dreams/2026-11-30 dream.md" in ours


def test_a_folder_that_the_settings_name_is_left_alone() -> None:
    names = VaultNames.of(files=("a.md",), markers={}, link_sources=lambda _: (), reserved=("/Dreams/",))
    assert choose_home(names).folder == "aria dreams"


def test_an_empty_folder_of_the_writer_is_left_alone() -> None:
    names = VaultNames.of(files=("a.md",), markers={}, link_sources=lambda _: (), folders=("Dreams",))
    home = choose_home(names)
    assert home.folder == "aria dreams"
    assert "Dreams" in home.said[0]


@pytest.mark.shared
@pytest.mark.parametrize(
    "name", ["jackyzha0-2023-03", "logseq-docs", "vaultofknowledge", "foam-docs", "horcy-zh-tw", "kepano"]
)
@pytest.mark.parametrize("wanted", ["dreams", "pages", "docs"])
def test_real_vaults(shared: Path, name: str, wanted: str) -> None:
    root = shared / "vaults" / name
    files = tuple(sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()))
    notes = [path for path in files if path.lower().endswith(".md")]
    links = tuple(
        (path, link.path) for path in notes for link in parse_note(decode_note((root / path).read_bytes())).links
    )
    assert links
    assert_nothing_is_captured(Links(files=files, links=links), wanted)
