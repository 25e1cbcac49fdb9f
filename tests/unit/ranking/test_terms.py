"""Words of a note as numbers."""

from __future__ import annotations

import numpy as np
import pytest

from aria_dream.ranking.terms import BREAK, NO_TERMS, TermCounts, link_key, note_terms, spell, term_ids, words


def same(first: TermCounts, second: TermCounts) -> bool:
    names = ("ids", "counts", "order", "link_keys", "link_ids")
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in names)


def test_words_are_folded_and_single_letters_are_none() -> None:
    assert words("The Ground-Truth, a CAFÉ (2024) x") == ["the", "ground", "truth", "café", "2024"]


def test_decomposed_and_full_width_letters_are_the_same_word() -> None:
    assert words("cafe\u0301 ＡＩ") == ["café", "ai"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東京都", ["東京", "京都"]),
        ("猫", ["猫"]),
        ("日本語とtext", ["日本", "本語", "語と", "text"]),
        ("한국어 공부", ["한국", "국어", "공부"]),
    ],
)
def test_scripts_without_spaces_are_cut_into_pairs(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_words_with_accents_of_other_scripts_stay_whole() -> None:
    assert words("Память и сон; λόγος") == ["память", "сон", "λόγοσ"]


def test_a_plural_is_the_word() -> None:
    assert term_ids("dreams") == term_ids("Dream")
    assert term_ids("glass") != term_ids("glas")


def test_link_text_is_no_prose_and_ends_a_phrase() -> None:
    terms = note_terms("before [[Deep Work|focus]] after [label](notes/Other%20Note.md) end")
    assert terms.ids.tolist() == sorted(term_ids("before after end"))
    assert (terms.order == BREAK).sum() == 2
    assert set(terms.link_keys.tolist()) == {link_key("Deep Work"), link_key("notes/Other Note.md")}
    assert set(terms.link_ids.tolist()) == set(term_ids("deep work focus label other note"))


def test_an_outside_link_is_prose_without_its_address() -> None:
    terms = note_terms("see [the paper](https://example.org/some/path) and https://example.org/another")
    assert set(terms.ids.tolist()) == set(term_ids("see the paper and"))
    assert not len(terms.link_keys)


def test_counts_and_reading_order() -> None:
    terms = note_terms("bread water bread")
    assert [terms.ids[at] for at in terms.order] == term_ids("bread water bread")
    assert dict(zip(terms.ids.tolist(), terms.counts.tolist(), strict=True))[term_ids("bread")[0]] == 2


@pytest.mark.parametrize("text", ["", "one", "[[only]]", "a [[b|c]] d 東京 [x](y.md)\r\nnul \0 \udcff"])
def test_bytes_and_back(text: str) -> None:
    terms = note_terms(text)
    assert same(TermCounts.from_bytes(terms.to_bytes()), terms)


@pytest.mark.parametrize(
    "blob", [b"", b"12345678901", NO_TERMS.to_bytes() + b"\0", note_terms("some text").to_bytes()[:-1]]
)
def test_damaged_bytes_are_refused(blob: bytes) -> None:
    with pytest.raises(ValueError, match="wrong length"):
        TermCounts.from_bytes(blob)


@pytest.mark.parametrize("piece", ["[[", "[](", "![a](<", '[a](b "', "](", "https://", "[[a|", "- [ "])
def test_a_million_characters_of_brackets_are_read(piece: str) -> None:
    note_terms(piece * (1_000_000 // len(piece)))  # the suite's timeout is the assertion: quadratic takes an hour


def test_link_keys_ignore_folder_case_and_ending() -> None:
    assert link_key("A/b/Some Note.md#Heading|shown") == link_key("some note")


def test_spelling_gives_the_words_back() -> None:
    assert set(spell("Dreams of bread").values()) == {"dreams", "of", "bread"}
    assert spell("Dreams")[term_ids("dream")[0]] == "dreams"
