"""Whatever a note's bytes are: what was there stays, and what is added is where it should be."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from aria_dream.markdown.note import NotePath
from aria_dream.vault.edit import (
    Edit,
    Refusal,
    WritePlan,
    decode_note,
    encode_note,
    invert,
    plan_append,
    plan_edit,
)
from aria_dream.vault.names import NAME_BYTES_MAX, fold_path, name_refusal, parse_target, path_refusal, shorten_name

PATH = NotePath("n.md")

pieces = st.sampled_from(
    [
        *(b"\xef\xbb\xbf", b"---\n", b"---\r\n", b"a: 1\n", b"\r\n", b"\n", b"\r", b" ", b"\t", b"text", b"# H", b"%%"),
        *(b"```", b"~~~~", b"`", b"<!--", b"-->", b"- ", b"> ", b"\\", b"\0", b"\xff", b"\xc3", b"\xa9", b"$$"),
        *(b"\xe2\x80\xa8", b"\xc2\x85", b"[[x]]", b"<pre>", b"</pre>", b"<div>", b"    ", b"\x0c", b"==", b"| a |"),
    ]
)
contents = st.one_of(st.binary(max_size=80), st.lists(pieces, max_size=25).map(b"".join))


@given(contents, st.text(max_size=60))
def test_an_append_keeps_every_old_byte_and_ends_with_one_line_end(before: bytes, block: str) -> None:
    plan = plan_append(PATH, before, block)
    if isinstance(plan, WritePlan):
        assert plan.content is not None
        assert plan.content.startswith(before)
        assert plan.content.endswith(b"\n")
        assert invert(plan, before).content == before


@given(contents)
def test_an_appended_heading_stands_after_a_blank_line_and_twice_is_possible(before: bytes) -> None:
    plan = plan_append(PATH, before, "## Dream\n\nx")
    assume(isinstance(plan, WritePlan))
    assert isinstance(plan, WritePlan)
    assert plan.content is not None
    added = plan.content[len(before) :]
    whole = plan.content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    lines = whole.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    at = len(lines) - 4  # heading, blank, x, end
    assert lines[at:] == [b"## Dream", b"", b"x", b""]
    assert at == 0 or not lines[at - 1].strip(b" \t")
    assert len(added) <= len(b"\r\n\r\n## Dream\r\n\r\nx\r\n")
    again = plan_append(PATH, plan.content, "## Dream\n\nx")
    assert isinstance(again, WritePlan)


@st.composite
def edited(draw: st.DrawFn) -> tuple[bytes, list[Edit]]:
    before = draw(contents)
    length = len(decode_note(before))
    cuts = sorted(draw(st.lists(st.integers(0, length), max_size=8)))
    news = st.text(alphabet="ab\n\u00e9[]", max_size=5)
    edits = [Edit(start, end, draw(news)) for start, end in zip(cuts[::2], cuts[1::2], strict=False)]
    return before, draw(st.permutations(edits))


@given(edited())
def test_bytes_outside_the_planned_spans_never_change(case: tuple[bytes, list[Edit]]) -> None:
    before, edits = case
    plan = plan_edit(PATH, before, edits)
    assert isinstance(plan, WritePlan)
    assert plan.content is not None
    text, rest = decode_note(before), plan.content
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        for kept in (encode_note(text[at : edit.start]), encode_note(edit.new)):
            assert rest.startswith(kept)
            rest = rest[len(kept) :]
        at = edit.end
    assert rest == encode_note(text[at:])
    assert invert(plan, before).content == before


@given(st.binary())
def test_decoding_loses_no_byte(content: bytes) -> None:
    assert encode_note(decode_note(content)) == content


@given(st.text(max_size=300), st.lists(st.text(max_size=5), max_size=3))
def test_every_title_gets_a_portable_name(title: str, others: list[str]) -> None:
    taken = [shorten_name(other) for other in others]
    name = shorten_name(title, taken)
    assert name_refusal(name) is None
    assert len(name.encode()) <= NAME_BYTES_MAX
    assert fold_path(name) not in {fold_path(other) for other in taken}


target_parts = st.sampled_from(["..", ".", "", "/", "\\", "a", "~", "%2e", "CON", ":", "\0", ".git", ".md", "\uff0e"])


@given(st.lists(target_parts))
def test_no_target_that_is_accepted_leaves_the_vault(parts: list[str]) -> None:
    path = parse_target("".join(parts))
    if not isinstance(path, Refusal):
        assert ".." not in path.parts
        assert not path.is_absolute()
        assert path_refusal(path) is None
