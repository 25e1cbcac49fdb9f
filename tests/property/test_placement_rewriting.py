"""Generated vaults of look-alike names: whatever comes, goes or moves, each link means what it meant, and only those
change that would not."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from aria_dream.markdown.note import parse_note
from aria_dream.review.rewriting import Meaning, apply_edits, retarget_note
from aria_dream.vault.resolve import Resolver

NAMES = ("a.md", "A b.md", "a-2.md", "b.md", "v1.2.md", "p#1.md", "x.png", "é (1).md")
FOLDERS = ("", "f/", "g/", "f/g/", "a/")
FILES = st.sets(st.tuples(st.sampled_from(FOLDERS), st.sampled_from(NAMES)).map("".join), min_size=3, max_size=12)
TARGETS = st.sampled_from(
    ["a", "a.md", "A b", "a-2", "b", "v1.2", "x.png", "f/a", "f/g/b", "g/a", "./a", "../a", "/a", "../g/b",
    "é (1)", "a/a", ""]
)
SHAPES = st.sampled_from(
    [
        "[[{}]]", "![[{}]]", "[[{}#H]]", "[[{}|shown]]", "[[ {} |  x ]]", "[[{}#^b1|y]]", "[m](<{}>)",
        "[m](<{}#H> 't')",
        "![alt](<{}>)", "`[[{}]]`", "%% [[{}]] %%", "- [[{}]]", "> [[{}]]", "# [[{}]]",
        "| [[{}\\|z]] |\n| - |\n| [[{}]] |",
    ]
)  # fmt: skip
LINES = st.lists(st.tuples(SHAPES, TARGETS).map(lambda pair: pair[0].replace("{}", pair[1])), min_size=1, max_size=6)
HEADS = st.sampled_from(["", "---\nup: \"[[a]]\"\nl:\n  - '[[f/a|it''s]]'\n  - \"[[b#H]]\"\n---\n"])


@settings(max_examples=200, deadline=None)
@given(st.data(), FILES, HEADS, LINES)
def test_links_keep_their_meaning(data: st.DataObject, files: set[str], head: str, lines: list[str]) -> None:
    before = sorted(files)
    notes = [path for path in before if path.endswith(".md")]
    if len(notes) < 2:
        return
    source, drop = data.draw(st.sampled_from(notes)), data.draw(st.sampled_from(notes))
    keep = data.draw(st.sampled_from([path for path in (*notes, "new/Other name.md", "a.md") if path != drop]))
    appeared = data.draw(st.sampled_from([(), ("g/a.md",), ("b.md", "f/A b.md")]))
    after = sorted({*before, keep, *appeared} - {drop})
    moved = {drop: keep}
    place = moved.get(source, source)
    old, new = Resolver(before), Resolver(after)
    text = head + "\n\n".join(lines)
    edits, problems = retarget_note(text, source, Meaning(before=old, after=new, moved=moved), source_after=place)
    changed = apply_edits(text, edits)
    was, now = parse_note(text), parse_note(changed)
    assert len(was.links) == len(now.links)
    untold = not problems
    for link, link_now in zip(was.links, now.links, strict=True):
        meant = old.resolve(link.path, source)
        wanted = moved.get(meant, meant) if meant else None
        if meant and untold:
            assert new.resolve(link_now.path, place) == wanted, (link, link_now)
        assert (link.embed, link.markdown, link.subpath) == (link_now.embed, link_now.markdown, link_now.subpath)
        if link.display is not None:
            assert link_now.display == link.display
        elif not link.embed and link.raw != link_now.raw:
            shown = " > ".join(part for part in (link.path, link.subpath.strip("#")) if part)
            same = " > ".join(part for part in (link_now.path, link_now.subpath.strip("#")) if part)
            assert (link_now.display or same) == shown
        if not meant or new.resolve(link.path, place) == wanted:
            assert link.raw == link_now.raw, "a link that means the right file is left alone"
    assert now.properties.keys() == was.properties.keys()
    assert now.tags == was.tags
    assert [text[span.start : span.end] for span in was.opaque if text[span.start] == "`"] == [
        changed[span.start : span.end] for span in now.opaque if changed[span.start] == "`"
    ]
