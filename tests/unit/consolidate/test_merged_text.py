"""One text out of several."""

from __future__ import annotations

from aria_dream.consolidate.merged_text import check_rewrite, left_over, merge_texts
from aria_dream.consolidate.note_merges import NoteMerge, plan_note_merge
from aria_dream.consolidate.sentences import read_sentences
from aria_dream.markdown.note import NotePath
from aria_dream.review.plan import VaultView
from aria_dream.vault.edit import Refusal

KEPT = "The tower was built in 1840. Three keepers lived there. It has never been open to visitors.\n"


def test_sentences_are_lines_items_and_cells_of_code() -> None:
    text = (
        "# Head\n\nOne is. Two? Three!\n- four\n- five\n\n```\ncode\n```\nSix `x` is.\n\n![[a.png]]\n熱い。冷たい。\n"
    )
    assert [" ".join(one.keys) for one in read_sentences(text)] == [
        "head", "one is", "two ?", "three !", "four", "five", "code", "six `x` is", "!a.png", "熱 い", "冷 た い",
    ]  # fmt: skip
    assert [text[one.start : one.end] for one in read_sentences(text)][1] == "One is"


def test_equal_words_change_nothing() -> None:
    merged = merge_texts(
        KEPT, ["The tower was *built* in 1840.\nThree keepers lived there.\nIt has never been open to visitors."]
    )
    assert merged.text == KEPT
    assert (merged.added, merged.reworded, merged.lost) == ((), (), ())


def test_what_only_another_says_is_added_in_its_words() -> None:
    other = (
        "Three keepers lived there. The light is *green*.\n\n- It hums.\n- The tower was built in 1840.\n\n"
        "## Visits\n\nNone.\n"
    )
    merged = merge_texts(KEPT, [other, other])
    assert merged.text == KEPT + "\nThe light is *green*.\n\n- It hums.\n\n## Visits\n\nNone.\n"
    assert merged.added == ("The light is *green*.", "It hums.", "Visits", "None.")


def test_another_number_date_or_denial_is_another_fact() -> None:
    for fact in (
        "The tower was built in 1841.",
        "Four keepers lived there.",
        "It has always been open to visitors.",
        "Three keepers never lived there.",
    ):
        assert merge_texts(KEPT, [fact]).added == (fact,)


def test_other_words_for_one_fact_are_told() -> None:
    merged = merge_texts(KEPT, ["In 1840 the tower was built. Three keepers lived up there."])
    assert merged.text == KEPT
    assert merged.reworded == ("In 1840 the tower was built.", "Three keepers lived up there.")


def test_a_link_that_only_another_has_is_taken() -> None:
    merged = merge_texts(KEPT, ["Three [[Keepers|keepers]] lived there."])
    assert merged.text == KEPT.replace("keepers", "[[Keepers|keepers]]")
    assert merge_texts("Three [[A|keepers]] lived there.\n", ["Three [[A|keepers]] lived there."]).text == (
        "Three [[A|keepers]] lived there.\n"
    )


def test_tags_and_code_are_kept() -> None:
    merged = merge_texts(KEPT, ["Three keepers lived there. #sea #Sea\n\n```sh\nls -l\n```\n"])
    assert merged.text == KEPT + "\n```sh\nls -l\n```\n\n#sea\n"


def test_a_block_is_not_torn_apart_nor_its_tag_said_twice() -> None:
    block = "Look: ![[stove.png]] and #warm things, so they say. ^last"
    merged = merge_texts(KEPT, [f"{KEPT}\n{block}\n\n![[a.png]] and ![[b.png]].\n"])
    assert merged.text == f"{KEPT}\n{block}\n\n![[a.png]] and ![[b.png]].\n"
    assert merged.reworded == ()


def test_a_rewrite_is_held_to_its_facts() -> None:
    good = check_rewrite(
        "Built in 1840, the tower housed three keepers who lived there. It has never been open to visitors.", [KEPT]
    )
    assert not isinstance(good, Refusal)
    worse = check_rewrite(
        "The tower was built in 1840. It has never been open to visitors. Lovely.", [KEPT, "It is tall.\n"]
    )
    assert isinstance(worse, Refusal)
    assert worse.reason == "the new wording would lose 2 of 4 sentences"
    more = "It is tall and white. The lamp is of glass. The door is of oak.\n"
    wording = KEPT + "It is tall and white. The lamp is of glass.\n"
    some = check_rewrite(wording, [KEPT, more])
    assert not isinstance(some, Refusal)
    assert some.lost == ("The door is of oak.",)
    assert some.text == wording


def test_a_rewrite_may_not_turn_a_fact_round() -> None:
    wrong = check_rewrite(
        "The tower was built in 1840. Three keepers lived there. It has been open to visitors.", [KEPT]
    )
    assert isinstance(wrong, Refusal)


def test_what_is_left_over_of_a_section() -> None:
    text, reworded = left_over(KEPT, "Three keepers lived there, up there. It hums. See [[Other]] for the 3 keepers.\n")
    assert text == "It hums. See [[Other]] for the 3 keepers."
    assert reworded == ("Three keepers lived there, up there.",)


def test_equal_words_that_link_elsewhere_are_two_sentences() -> None:
    for one, other in (
        ("[plan](img/plan.pdf)", "[plan](../old/img/plan.pdf)"),
        ("[[A|plan]]", "[[B|plan]]"),
        ("[plan](https://example.org/a)", "[plan](https://example.org/b)"),
    ):
        merged = merge_texts(f"The {one} lies beside it.\n", [f"The {other} lies beside it."])
        assert merged.text == f"The {one} lies beside it.\n\nThe {other} lies beside it.\n"
        assert merged.lost == ()
    spelt = "The [[folder/A|plan]] lies there."
    kept = merge_texts("The [[A|plan]] lies there.\n", [spelt], lambda _path: "folder/A.md")
    assert kept.text == "The [[A|plan]] lies there.\n"  # one file, two spellings
    started = merge_texts("[Plan](a.pdf) of the hull.\n", ["[Plan](b.pdf) of the hull."])
    assert "b.pdf" in started.text


def test_a_definition_of_the_other_note_leads_where_it_led() -> None:
    body = "The [plan][p] lies beside it.\n\n[p]: img/plan.pdf\n"
    files = ("A/Hull.md", "A/img/plan.pdf", "B/Hull.md", "B/img/plan.pdf")
    contents = {NotePath(path): body.encode() for path in ("A/Hull.md", "B/Hull.md")}
    found = plan_note_merge(VaultView(files=files, contents=contents), NotePath("A/Hull.md"), [NotePath("B/Hull.md")])
    assert isinstance(found, NoteMerge), found
    assert found.body == f"{body}\nThe [plan](../B/img/plan.pdf) lies beside it.\n"


def test_a_section_of_one_name_with_another_text_is_told() -> None:
    contents = {
        NotePath("Keep.md"): b"## Setup\n\nTurn it on at the wall, and wait for the green lamp beside the door.\n",
        NotePath("Drop.md"): b"## Setup\n\nOpen the valve in the yard, and pump until the pressure has settled.\n",
        NotePath("Ref.md"): b"See [[Drop#Setup]].\n",
    }
    view = VaultView(files=tuple(map(str, contents)), contents=contents, unfollowed={"Drop.md": ("a Base names it",)})
    found = plan_note_merge(view, NotePath("Keep.md"), [NotePath("Drop.md")])
    assert isinstance(found, NoteMerge), found
    assert found.elsewhere == (
        "links to “Setup” of “Drop” lead to the section of that name that stays", "a Base names it"
    )  # fmt: skip
