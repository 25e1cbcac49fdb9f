from __future__ import annotations

import pytest

from aria_dream.markdown.note import Note, Span, parse_note, subpath_found
from aria_dream.markdown.scan import scan_note


def _raws(note: Note) -> list[str]:
    return [link.raw for link in note.links]


@pytest.mark.parametrize(
    ("text", "raws"),
    [
        ("[[a`b]] and [[c`d]] `[[e]]`", ["[[a`b]]", "[[c`d]]"]),
        ("[[A$]] and [[B$]] $[[c]]$", ["[[A$]]", "[[B$]]"]),
        ("it costs $5 [[a]] or b$6", ["[[a]]"]),
        ("[x [[y]] z](d.md)", ["[[y]]"]),
        ("[x](<z [[a]]>)", ["[x](<z [[a]]>)"]),
        ("[[Harbour]](x.md)", ["[[Harbour]]"]),
        ("[![alt](pic.png)](Note.md)", ["[![alt](pic.png)](Note.md)", "![alt](pic.png)"]),
        ("\\![[x]] \\\\[[y]]", ["[[x]]", "[[y]]"]),
        ("- [[a\n  b]]\n- [[c]]\n", ["[[c]]"]),
        ("é [l `]( ` é](c%20d.md#x 't')", ["[l `]( ` é](c%20d.md#x 't')"]),
        ("[a][b] [b]\n\n[b]: Note.md", []),
        ("[[[Name]]]", ["[[[Name]]"]),
        ("[m](mailto:x@y.z) <http://a.b/[[c]]> [x](HTTP://x)", []),
    ],
)
def test_links(text: str, raws: list[str]) -> None:
    assert _raws(parse_note(text)) == raws


def test_label_and_destination_of_a_text_that_is_not_ascii() -> None:
    (link,) = parse_note("日 [a é `](`](<日本 &amp; 語.md#ü> 't') x").links
    assert (link.path, link.subpath, link.display) == ("日本 & 語.md", "#ü", "a é `](`")


def test_property_links_have_their_places() -> None:
    text = "---\n# \"[[a]]\"\n\"[[a]]\": 'x'\nup: '[[Bob''s]]'\n"
    text += 'l: ["[[a]]", "[b](c.md)"]\nf: "[[old\n  pier]]"\n---\n'
    links = parse_note(text).links
    assert [link.raw for link in links] == ["[[Bob''s]]", "[[a]]", "[b](c.md)", "[[old\n  pier]]"]
    assert [link.path for link in links] == ["Bob's", "a", "c.md", "old pier"]
    assert links[1].start == text.index('["[[a]]') + 2


def test_headings_blocks_tags_and_opaque_spans() -> None:
    text = "# A #\n\n> ## B [[x]]\n\nSetext\n===\ntext ^b-1\n\n`# no ^c`\n%% #t %% #1 #a/b. #é\n"
    note = parse_note(text)
    assert [(heading.level, heading.text) for heading in note.headings] == [(1, "A"), (2, "B [[x]]"), (1, "Setext")]
    assert [block.name for block in note.block_ids] == ["b-1"]
    assert note.tags == ("t", "a/b", "é")
    code, comment = text.index("`# no"), text.index("%% #t")
    assert note.opaque == (Span(code, code + 9), Span(comment, comment + 8))


def test_subpaths_walk_deeper() -> None:
    note = parse_note("# A\n## B\n# C\n## D\n### B\n# A\n## D\n")
    assert subpath_found(note, "#A#B")
    assert subpath_found(note, "#C#B")
    assert subpath_found(note, "#A#D")
    assert not subpath_found(note, "#B#A")
    assert not subpath_found(note, "#C#C")


def test_flags_and_words() -> None:
    scan = scan_note("---\nDream: No\naria-dream: log\nkanban-plugin: board\n---\none two `three` - %% x %% 日本語字\n")
    assert (scan.dream, scan.marker, scan.plugin) == (False, "log", "kanban")
    assert scan.words == 5
    assert scan_note("---\ndream: yes\n---\n").dream
    assert not scan_note("---\ndream:\n---\n").dream
