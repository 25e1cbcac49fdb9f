"""Notes nobody would write: a plan changes what it says it changes, is taken back exactly, or is refused."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.review.merging import plan_merge
from aria_dream.review.placement import Placement, PlacementPolicy, Style, Target, plan_link
from aria_dream.review.plan import Planned, VaultView, changes_of
from aria_dream.review.rewriting import apply_edits
from aria_dream.review.undo_text import undo_in_text
from aria_dream.vault.edit import decode_note, encode_note
from aria_dream.vault.obsidian import AppSettings
from aria_dream.vault.resolve import Resolver

PIECES = st.sampled_from(
    [
        *["[[", "]]", "[[Rye]]", "![[Rye]]", "[[S|rye]]", "rye", "Rye", "RYE", "rye.", "(rye)", "*rye*", "_rye_",
        "`rye`", "`", "``", "```", "~~~", "$", "$$", "%%", "<", ">", "<b>", "</b>"],
        *["<div>", "</div>", "<!--", "-->", "<?", "#", "##", "[x](Rye.md)", "[rye]", "[^1]", "[^1]:", "](", "|",
        "|-|-", "---", "===", "-", "*", "1.", ">", "^id", "#rye", "key::", "\\", "!", "é", "日本"],
        *("## Related", "\n## Related\n\n- x\n", "\n- ", "\n> ", "\n    ", "\t", "\n", "\n\n", "\r\n", " ", "  ",
        "\ufeff", "\x00"),
        *("\udcff", "\u00a0", "---\n", "---\na: 1\n---\n", "a: [", "tags: x\n", "aliases:\n  - y\n", "{{x}}",
        "word " * 5, "\r"),
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=30).map("".join)
NOTES = st.tuples(st.sampled_from(["", "---\n", "\ufeff---\na: 1\n---\n",
"---\ntags: [q]\n---\n"]), TEXTS).map("".join)
FILES = ("S.md", "Rye.md", "f/Rye.md", "x.md")


@settings(max_examples=400, deadline=None)
@given(NOTES, st.sampled_from(["Rye.md", "f/Rye.md"]), st.booleans(), st.sampled_from(["mention-then-related",
"related"]))
def test_a_link_is_placed_or_refused(text: str, target: str, markdown: bool, placement: PlacementPolicy) -> None:
    before = encode_note(text)
    style = Style(resolver=Resolver(FILES), app=AppSettings(use_markdown_links=markdown), placement=placement)
    found = plan_link(NotePath("S.md"), before, Target(path=target, title="Rye"), style, again=True)
    if not isinstance(found, Placement):
        return
    after, old = found.plan.content, decode_note(before)
    assert after is not None
    edit = found.edit
    assert after == encode_note(old[: edit.start]) + encode_note(edit.new) + encode_note(old[edit.end :])
    now = parse_note(decode_note(after))
    new = [link for link in now.links if edit.start <= link.start and link.end <= edit.start + len(edit.new)]
    assert [style.resolver.resolve(link.path, "S.md") for link in new] == [target]
    assert not new[0].embed
    assert len(now.links) == len(parse_note(old).links) + 1
    assert found.removed.lower() in ("rye", "")
    edits, left = undo_in_text(old, decode_note(after), decode_note(after))
    assert (apply_edits(decode_note(after), edits), left) == (old, [])


@settings(max_examples=300, deadline=None)
@given(NOTES, NOTES, NOTES)
def test_a_merge_is_planned_or_refused(keep: str, drop: str, refs: str) -> None:
    texts = {"S.md": keep, "Rye.md": drop, "x.md": refs, "f/Rye.md": ""}
    contents = {NotePath(path): encode_note(text) for path, text in texts.items()}
    view = VaultView(files=tuple(texts), contents=contents)
    plan = plan_merge(view, NotePath("S.md"), NotePath("Rye.md"))
    if not isinstance(plan, Planned):
        return
    assert changes_of(plan.edits, contents) == plan.changes
    before, after = view.resolver(), Resolver([path for path in view.files if path != "Rye.md"])
    written = {str(write.path): write.content for write in plan.changes.writes}
    now = parse_note(decode_note(written.get("x.md") or contents[NotePath("x.md")]))
    was = parse_note(decode_note(contents[NotePath("x.md")]))
    if not plan.problems:
        meant = [before.resolve(link.path, "x.md") for link in was.links]
        assert [after.resolve(link.path, "x.md") for link in now.links] == [
            "S.md" if path == "Rye.md" else path for path in meant
        ]
