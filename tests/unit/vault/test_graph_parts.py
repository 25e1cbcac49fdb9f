"""Records, linkages, look-ups by name and the names of sync conflicts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.vault.linkage import count_links, kind_of, link_files, name_key, note_graph
from aria_dream.vault.record import (
    AMBIGUOUS,
    EMBED,
    EMPTY,
    FileRecord,
    count_names,
    has_problems,
    pack_record,
    unpack_links,
    unpack_record,
)
from aria_dream.vault.resolve import NotOne, Resolver, find_note

TEXTS = st.text(st.characters(), max_size=8)


@given(
    st.lists(st.tuples(TEXTS, st.integers(0, 15), st.integers(0, 99)), max_size=4),
    st.lists(TEXTS, max_size=3),
    TEXTS,
    st.booleans(),
)
def test_packing_a_record_is_reversible(
    links: list[tuple[str, int, int]], names: list[str], marker: str, dream: bool
) -> None:
    record = FileRecord(
        link_paths=tuple(path for path, _, _ in links),
        link_flags=tuple(flag for _, flag, _ in links),
        link_lines=tuple(line for _, _, line in links),
        words=3,
        aliases=tuple(names),
        tags=tuple(names),
        has_frontmatter=dream,
        dream=dream,
        marker=marker,
        plugin=marker,
        problems=tuple((1, name) for name in names),
    )
    packed = pack_record(record)
    assert unpack_record(packed) == record
    assert unpack_links(packed) == (list(record.link_paths), bytes(record.link_flags))
    assert has_problems(packed) == bool(names)


@pytest.mark.parametrize(
    "packed",
    [b"", b"x", b"\xff", b"\x1e" * 9, b"a\x1f" + b"\x1e" * 9, pack_record(EMPTY)[:-1], pack_record(EMPTY) + b"x",
     pack_record(EMPTY).replace(b"0", b"zero"), pack_record(EMPTY).replace(b"0\x1e", b"0\x1e\x1e", 1)],
)  # fmt: skip
def test_what_is_no_record_says_so(packed: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        unpack_record(packed)


def test_files_are_told_apart_by_their_endings() -> None:
    assert [kind_of(path) for path in ("a.md", "A.MD", "b.canvas", "c.base", "d.png", "md")] == [
        "note", "note", "canvas", "base", "attachment", "attachment",
    ]  # fmt: skip


def test_a_name_and_a_link_to_it_share_a_key() -> None:
    assert name_key("a/Überblick.md") == name_key("überblick") == name_key("U\u0308BERBLICK")
    assert name_key("x/map.png") == "map.png"
    assert name_key("b/Note 1.2") == name_key("Note 1.2.md")


def packed(*paths: str) -> bytes:
    return pack_record(
        FileRecord(link_paths=paths, link_flags=(EMBED,) * len(paths), link_lines=tuple(range(1, len(paths) + 1)))
    )


def test_counts_of_a_small_vault() -> None:
    files = ("a.md", "b.md", "c.md", "d.canvas", "pic.png")
    contents = [packed("b", "b", "pic.png", "nowhere", ""), packed("a"), packed(), packed("c")]
    linkage = link_files(files, contents, Resolver(files))
    graph = note_graph(linkage)
    counts = count_links(linkage, graph)
    assert (counts.notes, counts.canvas, counts.base, counts.attachments) == (3, 1, 0, 1)
    assert (counts.link_occurrences, counts.resolved_occurrences, counts.unresolved_occurrences) == (7, 6, 1)
    assert (counts.note_to_note_pairs, counts.self_pairs, counts.resolved_pairs_all) == (2, 1, 5)
    assert counts.note_to_attachment_pairs == 1
    assert (counts.isolated_notes, counts.orphans_no_link_at_all) == (1, 0)  # the canvas shows c
    assert (counts.components, counts.largest_component) == (2, 2)
    assert linkage.sources_naming("x/NOWHERE.md") == (0,)
    assert linkage.sources_naming("c.md") == (3,)
    assert linkage.sources_naming("unheard of") == ()
    assert linkage.source_of("pic.png") is None
    assert linkage.source_of("e.md") is None


def test_a_link_with_md_written_meets_a_file_whose_name_ends_so_twice() -> None:
    files = ("s.md",)
    linkage = link_files(files, [packed("Foo.md")], Resolver(files))
    assert linkage.sources_naming("Foo.md.md") == (0,)
    assert linkage.sources_naming("Foo.md") == (0,)


def test_every_occurrence_means_what_the_resolver_says() -> None:
    files = ("Note.md", "a/Note.md", "b/Note.md", "b/Only.md", "b/s.md", "c/s.md")
    paths = ("Note", "a/Note", "b/Only", "Only", "../Note", "./Note", "none", "", "x/none", "Note")
    resolver = Resolver(files)
    linkage = link_files(files, [packed(*paths)] * len(files), resolver)
    for source in range(len(files)):
        for at, path in zip(linkage.occurrences(source), paths, strict=True):
            target = linkage.targets[at]
            assert (None if target < 0 else files[target]) == resolver.resolve(path, files[source])
            if target >= 0:
                ambiguous = resolver.is_ambiguous(path, files[source])
                assert bool(linkage.flags[at] & AMBIGUOUS) == ambiguous, (path, files[source])


def test_names_are_counted() -> None:
    one, other = FileRecord(tags=("a", "b"), aliases=("x", "y")), FileRecord(tags=("b",), has_frontmatter=True)
    counts = count_names(map(pack_record, [one, other, EMPTY]))
    assert (counts.distinct_tags, counts.notes_with_tags, counts.aliases) == (2, 2, 2)
    assert (counts.notes_with_aliases, counts.notes_with_frontmatter) == (1, 1)


PATHS = ("Plan.md", "Plan.canvas", "a/Note.md", "b/Note.md", "x/Case.md", "x/case.md", "y/Cafe\u0301.md", "v1.2.md")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Plan.md", "Plan.md"),
        ("Plan", "Plan.md"),
        ("plan.canvas", "Plan.canvas"),
        ("a/note", "a/Note.md"),
        ("./a/Note.md", "a/Note.md"),
        ("x/Case", "x/Case.md"),
        ("Case", "x/Case.md"),
        ("café", "y/Cafe\u0301.md"),
        ("v1.2", "v1.2.md"),
    ],
)
def test_a_note_is_found_by_path_or_unique_name(name: str, found: str) -> None:
    assert find_note(name, PATHS) == found


def test_no_note_and_several_notes_are_values() -> None:
    several = find_note("note", PATHS)
    assert several == NotOne("note", ("a/Note.md", "b/Note.md"))
    assert "a/Note.md" in str(several)
    assert find_note("CASE", PATHS) == NotOne("CASE", ("x/Case.md", "x/case.md"))
    assert find_note("missing", PATHS) == NotOne("missing", ())
    assert find_note("", PATHS) == NotOne("", ())
