"""The graphs of real vaults equal counts that an independent reader made, or the difference is explained by a link."""

from __future__ import annotations

import json
from array import array
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest

from aria_dream.adapters.index.index import VaultIndex, read_vault
from aria_dream.vault.linkage import Linkage, LinkCounts, count_links, note_graph

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.shared

VAULTS = ("vaultofknowledge", "logseq-docs", "foam-docs", "kepano", "horcy-zh-tw")

EXPLAINED: dict[str, tuple[tuple[str, int, str], ...]] = {
    # A list item under a heading at the margin, in prose: a link by every rule. The reference's parser (markdown-it,
    # CommonMark preset) stops at 20 nested containers, and takes everything from line 286 on for the text of the
    # twentieth.
    "vaultofknowledge": (("06. Collected Knowledge/xAndroid Boot Internals.md", 395, "IMEI"),),
}
"""Links (source, line, path) that we read and the reference does not; each is right by the link rules."""

COMPARED = (
    "canvas", "base", "attachments", "link_occurrences", "by_kind", "resolved_occurrences", "unresolved_occurrences",
    "resolved_pairs_all", "self_pairs", "note_to_note_pairs", "note_to_attachment_pairs", "isolated_notes",
    "orphans_no_link_at_all", "components", "largest_component",
)  # fmt: skip


def reference(shared: Path, vault: str) -> dict[str, Any]:
    counts = json.loads((shared / "vaults" / "counts.json").read_text(encoding="utf-8"))
    found: dict[str, Any] = counts["vaults"][vault]["reference"]
    return found


def without(index: VaultIndex, links: tuple[tuple[str, int, str], ...]) -> LinkCounts:
    """The counts of the vault as if these links were not there; each must be."""
    linkage = index.linkage
    left_out = set()
    for source, line, path in links:
        number = linkage.source_of(source)
        assert number is not None
        found = [
            at
            for at, link in zip(linkage.occurrences(number), index.links_of(source), strict=True)
            if (link.line, link.path) == (line, path)
        ]
        assert len(found) == 1, f"{source}:{line} holds {len(found)} links to {path}"
        left_out.update(found)
    offsets, targets, flags, names = array("i", [0]), array("i"), array("B"), array("I")
    for source_number in range(len(linkage.sources)):
        for at in linkage.occurrences(source_number):
            if at not in left_out:
                targets.append(linkage.targets[at])
                flags.append(linkage.flags[at])
                names.append(linkage.names[at])
        offsets.append(len(targets))
    rest: Linkage = replace(linkage, offsets=offsets, targets=targets, flags=flags, names=names)
    return count_links(rest, note_graph(rest))


@pytest.mark.parametrize("vault", VAULTS)
def test_counts_equal_the_reference(shared: Path, vault: str) -> None:
    expected = reference(shared, vault)
    index = read_vault(shared / "vaults" / vault, None)
    counts = asdict(without(index, EXPLAINED.get(vault, ())))
    assert counts["notes"] == expected["md_notes"]
    assert {name: counts[name] for name in COMPARED} == {name: expected[name] for name in COMPARED}
    unresolved = list(index.unresolved())
    assert len({link.path.lower() for link in unresolved}) == expected["unresolved_targets"]
    assert len({(link.source, link.path.lower()) for link in unresolved}) == expected["unresolved_pairs"]


@pytest.mark.parametrize("vault", VAULTS)
def test_names_equal_the_reference(shared: Path, vault: str) -> None:
    expected = reference(shared, vault)
    counts = asdict(read_vault(shared / "vaults" / vault, None).name_counts)
    assert counts == {name: expected[name] for name in counts}


def test_every_vault_with_counts_is_compared(shared: Path) -> None:
    counts = json.loads((shared / "vaults" / "counts.json").read_text(encoding="utf-8"))
    assert sorted(counts["vaults"]) == sorted(VAULTS)


def test_later_links_are_between_notes_of_the_garden(shared: Path) -> None:
    """The garden without reference counts is read whole (its template holds a bare placeholder, which is told), and the
    pairs linked later are not linked yet."""
    index = read_vault(shared / "vaults" / "jackyzha0-2023-03", None)
    assert index.counts.notes == 618
    assert [(problem.path, problem.line) for problem in index.problems] == [("templates/post.md", 3)]
