"""A reason is true of the two notes: checked on notes of every kind, generated and in many languages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.judging.common_ground import Between, Common, NoteView, fold, in_common
from aria_dream.judging.reason import (
    join_words,
    meet,
    named,
    quote_mention,
    speak_of,
)
from aria_dream.ranking.function_words import function_words, language_of

LANGUAGES: dict[str, dict[str, str]] = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "language_notes.json").read_text(encoding="utf-8")
)["notes"]


def flat(_word: str) -> float:
    return 1.0


WORDS = (  # noqa: SIM905 - a list of words reads better without quotes
    "feeding culture schedule jar Levain ferment über Größe 漢字 発酵 パン種 хлеб закваска l'eau brood-deeg the with "
    "and ŁÓDŹ ﬁne naïve"
).split()


@st.composite
def note_views(draw: st.DrawFn) -> NoteView:
    title = " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)))
    words = draw(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=6)), max_size=60))
    aliases = tuple(draw(st.lists(st.sampled_from(WORDS), max_size=2)))
    return NoteView(title, " ".join(words), aliases)


@given(note_views(), note_views())
def test_every_named_thing_is_in_both_notes(first: NoteView, second: NoteView) -> None:
    common = in_common(first, second, flat)
    for word in common.words:
        for note in (first, second):
            assert fold(word) in fold(f"{note.title}\n{note.prose}")
        assert fold(word) not in function_words(None)
    assert len({fold(word) for word in common.words}) == len(common.words)
    if common.mention:
        title, written = common.mention
        inside, of = (first, second) if title == first.title else (second, first)
        if first.title != second.title:
            assert written in " ".join(inside.prose.split())
            assert any(fold(written) == fold(" ".join(name.split())) for name in (of.title, *of.aliases))
    assert 0.0 <= common.twins <= 1.0
    assert 0.0 <= common.overlap <= 1.0


@given(note_views(), note_views())
def test_what_is_common_has_no_direction(first: NoteView, second: NoteView) -> None:
    one, two = in_common(first, second, flat), in_common(second, first, flat)
    assert {fold(word) for word in one.words} == {fold(word) for word in two.words}
    assert (one.twins, one.overlap, one.one_language, one.length) == (
        two.twins, two.overlap, two.one_language, two.length,
    )  # fmt: skip


def test_telling_words_come_first_as_they_are_written() -> None:
    rare = {"kefir": 5.0, "milk": 1.0, "lukewarm": 3.0}
    first = NoteView("Dairy", "Kefir likes lukewarm milk. The kefir grains wait.")
    second = NoteView("Grains", "Lukewarm milk, then kefir, then patience with the milk.")
    assert in_common(first, second, lambda word: rare.get(word, 0.0)).words == ("kefir", "lukewarm", "milk")


def test_nouns_of_german_keep_their_capitals() -> None:
    first, second = NoteView("A", "Ein Sauerteig braucht Wärme."), NoteView("B", "Der Sauerteig und die Wärme.")
    assert set(in_common(first, second, flat).words) == {"Sauerteig", "Wärme"}


def test_words_of_one_root_are_named_once() -> None:
    first = NoteView("A", "linked technology, economic, a relation")
    second = NoteView("B", "linking technological things, linked technology and technological economies, economic")
    assert in_common(first, second, flat).words == ("economic", "linked", "technology")


BY_THE_WAY = "so then that which here and there the " * 40


def test_what_is_said_by_the_way_is_not_what_a_note_speaks_of() -> None:
    first = NoteView("Nagel", f"Take it for granted. {BY_THE_WAY}")
    second = NoteView("Maps", f"Granted, a map is none. {BY_THE_WAY}")
    common = in_common(first, second, flat)
    assert common.words == ("granted",)
    assert common.by_the_way == {"granted"}
    assert common.subjects == ()
    assert speak_of(common) == "both use the word “granted”"
    dwelling = NoteView("Trust", f"Trust is granted and is never granted twice; maps show trust. {BY_THE_WAY}")
    common = in_common(dwelling, NoteView("Maps", f"Granted, trust in maps. {BY_THE_WAY}"), flat)
    assert common.words == ("maps", "trust", "granted")  # a title's word is what its note speaks of
    assert speak_of(common) == "both speak of trust and granted"  # that the one mentions the other is said already
    said = {"granted": 1.0, "maps": 0.7}
    common = in_common(dwelling, NoteView("Atlas", f"granted: maps {BY_THE_WAY}"), lambda word: said.get(word, 0.0))
    assert common.words == ("granted", "maps")  # Trust dwells on the rarer word
    plainer = NoteView("Trust", f"It is granted; maps, maps and maps. {BY_THE_WAY}")
    common = in_common(plainer, NoteView("Atlas", f"granted: maps {BY_THE_WAY}"), lambda word: said.get(word, 0.0))
    assert common.words == ("maps", "granted")  # here it does not
    short = in_common(NoteView("A", "Rye wants air."), NoteView("B", "Air and rye."), flat)
    assert not short.by_the_way
    several = in_common(
        NoteView("A", f"granted mistakes {BY_THE_WAY}"), NoteView("B", f"mistakes granted {BY_THE_WAY}"), flat
    )
    assert speak_of(several) == "both use the words “granted” and “mistakes”"


def test_a_title_in_small_letters_is_quoted() -> None:
    between = Between("recipes", from_first=False, from_second=False)
    common = in_common(NoteView("navigation", "Click links."), NoteView("links", "x"), flat, [between])
    assert quote_mention(common) == "“navigation” mentions “links” without a link"
    assert meet(common) == "“recipes” leads to both"
    assert [named("Rye"), named("iPad"), named("漢字"), named("3D"), named("")] == ["Rye", "“iPad”", "漢字", "3D", ""]


def test_words_inside_one_another_are_named_once() -> None:
    first = NoteView("A", "culture and cultures and subculture")
    assert len(in_common(first, NoteView("B", "cultures, a culture, its subculture"), flat).words) == 1


@pytest.mark.parametrize(
    ("title", "aliases", "prose", "expected"),
    [
        ("Sourdough starter", (), "Feed the sourdough\nstarter daily.", "sourdough starter"),
        ("Rye", ("Secale cereale",), "It was secale cereale, they said.", "secale cereale"),
        ("パン種", (), "毎日パン種に水をやる。", "パン種"),
        ("C++ (language)", (), "I like C++ (language) a lot.", "C++ (language)"),
        ("Starter", (), "The restarter is broken.", None),
        ("art", (), "The art of it.", None),
    ],
)
def test_mentions_are_whole_words_as_written(
    title: str, aliases: tuple[str, ...], prose: str, expected: str | None
) -> None:
    common = in_common(NoteView("Compost", prose), NoteView(title, "nothing", aliases), flat)
    assert common.mention == (None if expected is None else ("Compost", expected))


def test_the_note_between_is_said_with_its_direction() -> None:
    def said(*, from_first: bool, from_second: bool) -> str | None:
        between = Between("Hub", from_first=from_first, from_second=from_second)
        return meet(in_common(NoteView("A", ""), NoteView("B", ""), flat, [between]))

    assert said(from_first=True, from_second=True) == "both lead to Hub"
    assert said(from_first=False, from_second=False) == "Hub leads to both"
    assert said(from_first=True, from_second=False) == "Hub lies between them"


def test_nothing_in_common_gives_no_clause() -> None:
    common = in_common(NoteView("Aaaa", "one two"), NoteView("Bbbb", "three four"), flat)
    assert (common.words, common.mention, common.between) == ((), None, None)
    assert (speak_of(common), quote_mention(common), meet(common)) == (None, None, None)


def test_lists_read_like_prose() -> None:
    assert [join_words(["a"]), join_words(["a", "b"]), join_words(["a", "b", "c"])] == ["a", "a and b", "a, b and c"]


def test_copies_and_excerpts_are_seen() -> None:
    text = " ".join(f"word{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(100))
    excerpt = " ".join(text.split()[20:60])
    assert in_common(NoteView("A", text), NoteView("B", excerpt), flat).twins > 0.9
    assert in_common(NoteView("A", text), NoteView("B", " ".join(reversed(text.split()))), flat).twins == 0.0


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_shared_words_are_found_in_every_language(language: str) -> None:
    notes = LANGUAGES[language]
    common = in_common(NoteView("A", notes["starter"]), NoteView("B", notes["starter_again"]), flat)
    assert len(common.words) >= 3
    unrelated = in_common(NoteView("A", notes["starter"]), NoteView("B", notes["muscle"]), flat)
    assert common.overlap > 0.4 > unrelated.overlap


def test_languages_are_told_apart() -> None:
    written = {name: re.findall(r"\w+", " ".join(notes.values()).casefold()) for name, notes in LANGUAGES.items()}
    told = {name: language_of(words) for name, words in written.items()}
    assert told == {name: None if name in ("ja", "zh") else name for name in LANGUAGES}
    german = NoteView("Sauerteig", LANGUAGES["de"]["starter"])
    assert not in_common(german, NoteView("Starter", LANGUAGES["en"]["starter"]), flat).one_language


@pytest.mark.parametrize("text", ["漢" * 50_000, "ab " * 50_000, "ก" * 30_000, "x" * 300_000, "\udc80\0" * 500])
def test_any_text_is_read(text: str) -> None:
    common = in_common(NoteView("A", text), NoteView("B", text), flat)
    assert isinstance(common, Common)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("一般使用系統管理員身分執行。", "請以系統管理員的身分登入。", {"系統管理員", "身分"}),
        ("我們提供的資料庫備份", "他也提供的資料庫備份工具", {"資料庫備份"}),
        ("這是可以的,因為如果", "那是可以的,因為如果", set()),
        ("以我的看法", "以我的意見", set()),
        ("私のパン種は棚の瓶の中で", "棚の瓶にパン種が入っている", {"パン種"}),
        ("복습하는 사람은 단어를 기억한다", "복습에서 단어가 남는다", {"복습", "단어"}),
    ],
    ids=["longest", "edges", "function words only", "fragment", "Japanese", "Korean stems"],
)
def test_words_of_scripts_without_spaces_are_named_whole(first: str, second: str, expected: set[str]) -> None:
    assert set(in_common(NoteView("A", first), NoteView("B", second), flat).words) == expected


def test_words_that_say_how_and_not_what_are_never_named() -> None:
    said = "It becomes what it becomes; typically it requires various things."
    assert in_common(NoteView("A", said), NoteView("B", said), flat).words == ()
