"""The passages that a dream quotes: whole sentences, as a reader sees them, and nothing else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.markdown.note import parse_note
from aria_dream.ranking.quotation import LEAST_WORDS, LONGEST, MOST, SHORTEST, quotable_passages

HEAP = "A third of the old heap stays behind, and it starts the next one within a few warm days of spring."
LOAF = "Keep two spoons of the starter back, for they are the next loaf, and the loaf after that one too."


def passages(text: str) -> tuple[str, ...]:
    return quotable_passages(parse_note(text))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (HEAP, HEAP),
        (f"**A third** of the _old_ heap{HEAP[23:]}", HEAP),
        (f"A third of the [[Compost|old heap]]{HEAP[23:]}", HEAP),
        (f"A third of the [old heap](https://e.org/heap){HEAP[23:]}", HEAP),
        (f"A third of the `old heap`{HEAP[23:]}", HEAP),
        (f"{HEAP} #garden/heap ![[heap.png]] ^heap-1", HEAP),
        (f"- [ ] {HEAP}", HEAP),
        (f"> [!quote] {HEAP}", HEAP),
        (HEAP.replace(" and ", "\nand "), HEAP),
        (f"{HEAP}\n\n| what | where |\n| --- | --- |\n| heap | garden |", HEAP),
        (f"```\n{LOAF}\n```\n\n{HEAP}", HEAP),
        (f"%% {LOAF} %%\n{HEAP}", HEAP),
        (f"## {LOAF}\n{HEAP}", HEAP),
        (f"mood:: {LOAF}\n{HEAP}", HEAP),
        (f"author: [[Ada]]\nsource: https://e.org\n\n{HEAP}", HEAP),
        (f"[heap]: heap.md 'The old heap and all that belongs to it in the garden behind the house'\n{HEAP}", HEAP),
    ],
)
def test_a_passage_reads_as_its_reader_sees_it(written: str, shown: str) -> None:
    assert passages(written) == (shown,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Only a heading with quite a few words in it, more than enough to be a passage of its own",
        "Too short to say a thing.",
        "- [[One note of many]]\n- [[Another note of many]]\n- [[A third note of many]]\n- [[A fourth note of many]]",
        "---\ntype: note\n---\n{{date:YYYY-MM-DD}} <% tp.file.cursor() %>",
        "/usr/local/bin /usr/local/lib /usr/local/libexec /usr/local/include /usr/local/share /usr/local/src 0x41",
        "| " + HEAP + " |\n| --- |",
        f"$$\n{HEAP}\n$$",
    ],
)
def test_what_is_no_prose_is_no_passage(text: str) -> None:
    assert passages(text) == ()


def test_sentences_are_put_together_and_items_stand_apart() -> None:
    short = "One heap is cold. Another heap is warm. Both of them were fed in the autumn before the frost."
    assert passages(short) == (short,)
    items = "- greens and browns\n- water, but not much\n- air, for which you turn it\n- and quite some time"
    assert passages(items) == (
        "greens and browns · water, but not much · air, for which you turn it · and quite some time",
    )
    assert passages(f"{HEAP}\n\n{LOAF}") == (HEAP, LOAF)


def test_a_sentence_that_is_too_long_is_cut_at_a_word() -> None:
    first, *rest = passages(" ".join([HEAP.removesuffix(".")] * 5))
    assert len(first) <= LONGEST
    assert f"{first} {rest[0]}" in " ".join([HEAP.removesuffix(".")] * 5)


def test_languages_without_spaces_are_cut_at_their_own_stops() -> None:
    text = (
        "堆肥的三分之一留下来，到了春天，它会让下一堆在几天之内就温暖起来，而且从来不会断。"
        "这就像面包师留下的两勺老面，它们就是明天的那个面包，后天的也是。"
    )
    assert passages(text) == (text,)
    assert len(passages(text * 3)) > 1


@given(st.text(st.sampled_from("aé中# \n-*[]()|`$%.:!?~=<>{}^_\\\"'0"), max_size=400) | st.text(max_size=300))
def test_every_passage_holds_its_bounds_and_only_words_of_its_note(text: str) -> None:
    note = parse_note(text)
    for passage in quotable_passages(note):
        assert len(passage) <= LONGEST
        assert "\n" not in passage
        assert passage == passage.strip()
        words = re.findall(r"[^\W_]+", passage)
        assert all(word in text for word in words)
    assert len(quotable_passages(note)) <= MOST
    assert quotable_passages(note) == quotable_passages(note)


def test_a_note_has_no_more_than_its_first_passages() -> None:
    many = "\n\n".join(f"{number} {HEAP}" for number in range(3 * MOST))
    assert len(passages(many)) == MOST
    assert SHORTEST < LONGEST
    assert LEAST_WORDS > 0


def test_a_hostile_note_is_read_in_linear_time() -> None:
    """Not timed: under a quadratic pattern this would run for minutes and hit the suite's timeout."""
    parts = (
        "[", "[a](", "![", "**", "a ", "a. ", "\\", "{{", "<%", "::", "#", "- ", "> ", "\u3002", "`", "(", "a:: b ",
    )  # fmt: skip
    for part in parts:
        passages(part * (200_000 // len(part)))
        passages("\n".join([part * 50] * 2_000))
