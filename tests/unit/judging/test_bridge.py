"""The signs of a bridge: what each of them says, and what is said of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aria_dream.judging.bridge import (
    FULL_CLAUSE,
    NEARER,
    BridgeSigns,
    bridge_log_odds,
    bridge_signs,
    clause_words,
    folder_lift,
    note_shape,
    speaks_against,
    speaks_for,
    surroundings,
    usual_clause,
)
from aria_dream.judging.common_ground import Common
from aria_dream.judging.judge import (
    KEPT_FROM,
    LINKS_ENOUGH,
    LINKS_FEW,
    STRONG_BRIDGE,
    JudgedPair,
    bridge_share,
    judge_pairs,
)
from aria_dream.judging.triage_prompt import Drop, Keep
from aria_dream.judging.worth import WorthModel
from aria_dream.ranking.juxtaposition import Juxtaposition, Resonance
from aria_dream.ranking.meaning import background
from aria_dream.ranking.sparse import Structure, structure_of

GOOD = BridgeSigns(
    nearness=1.0, jotting=0.0, jotted="A", lift=0.0, folders=("Land", "Work"), dated="", same_day=False
)
PROSE = {
    "en": "A landscape that is never allowed a little fire is not being protected from fire. It is being put in debt.",
    "de": "Ein Beet mit nur einer Sorte muss man verteidigen, und ein gemischtes verteidigt sich ganz von selbst.",
    "pl": "Dobre drewno powstaje tam, gdzie drzewu było bardzo trudno i gdzie musiało rosnąć powoli na kamieniach.",
    "ja": "笑いは言葉と言葉のあいだの長い沈黙で起きる。庭師が作るのは石ではなく石のあいだの時である。",
    "zh": "他没有战胜那条泛滥的大河，只是给了它一个可以去的地方。硬挡一股强大的力量等于替它积蓄。",
}
LISTS = (
    "Start here. Maps: Sea, Garden, Music, Work, Health, Language. Inbox first. Archive, templates, old vault.",
    "- milk\n- eggs\n- rye bread\n- two lemons\n- soap\n",
    "Weight 78.4. Slept 6 h 50, woke twice. Knee swollen, iced it. No coffee.",
    "买米、买油、换灯泡、交电费、写信、洗衣、浇花。",
)


@pytest.mark.parametrize("language", PROSE)
def test_prose_has_long_clauses_in_every_language(language: str) -> None:
    assert note_shape("A", PROSE[language]).clause_words > 5


@pytest.mark.parametrize("text", LISTS)
def test_lists_and_logs_have_short_ones(text: str) -> None:
    assert 0 < note_shape("A", text).clause_words < 4


@pytest.mark.parametrize("text", ["", " , , . \n", "123 456\n- 7\n", "\x00", "§§ %%"])
def test_a_note_without_a_word_has_none(text: str) -> None:
    assert note_shape("A", text).clause_words == 0


def test_lines_that_are_only_wrapped_end_no_clause() -> None:
    wrapped = "a landscape that is never\nallowed a little fire is not\nbeing protected from it"
    assert note_shape("A", wrapped) == note_shape("A", wrapped.replace("\n", " "))


def test_every_sign_speaks_the_right_way() -> None:
    for worse in (
        replace(GOOD, nearness=-1.0),
        replace(GOOD, jotting=1.0),
        replace(GOOD, lift=2.0),
        replace(GOOD, dated="2026-03-09"),
        replace(GOOD, same_day=True),
    ):
        assert bridge_log_odds(worse) < bridge_log_odds(GOOD)
    assert bridge_log_odds(GOOD) > 0
    assert bridge_log_odds(replace(GOOD, nearness=None)) == bridge_log_odds(replace(GOOD, nearness=0.0))


@pytest.mark.parametrize(
    ("signs", "said"),
    [
        (replace(GOOD, lift=2.5, folders=("Land", "Land")), "lie side by side in Land"),
        (replace(GOOD, jotting=0.9, jotted="Home"), "do not go together: Home is written in jottings"),
        (replace(GOOD, dated="2026-03-09"), "do not go together: 2026-03-09 is a note of its day"),
        (replace(GOOD, same_day=True), "name one day"),
        (replace(GOOD, nearness=-0.5), "are no nearer in meaning than chance has it"),
        (replace(GOOD, lift=2.5, folders=("", "")), None),
        (GOOD, None),
    ],
)
def test_what_tells_most_against_it_is_said(signs: BridgeSigns, said: str | None) -> None:
    assert speaks_against(signs) == said


def test_what_speaks_for_it_is_true() -> None:
    assert speaks_for(GOOD) == f"{NEARER}, and they lie apart, in Land and in Work"
    far = replace(GOOD, nearness=-0.1)
    assert speaks_for(far) == "both are written out in whole sentences, and they lie apart, in Land and in Work"
    assert "apart" not in speaks_for(replace(GOOD, folders=("", "Work")))
    assert "apart" not in speaks_for(replace(GOOD, folders=("Work", "Work")))


def test_what_is_usual_in_a_vault_of_jottings_is_no_sign() -> None:
    prose = note_shape("A", PROSE["en"])
    jotted = note_shape("B", LISTS[0])
    assert usual_clause([prose.clause_words] * 10) == usual_clause([]) == FULL_CLAUSE
    assert usual_clause([jotted.clause_words] * 10) == pytest.approx(jotted.clause_words)

    def jotting(usual: float) -> float:
        return bridge_signs(prose, jotted, usual=usual, nearness=1.0, lift=0.0).jotting

    assert jotting(usual_clause([prose.clause_words] * 10)) > 0.5
    assert jotting(usual_clause([jotted.clause_words] * 10)) == 0


def test_a_folder_tells_by_how_few_it_holds() -> None:
    assert folder_lift(100, 5) > folder_lift(100, 50) > 0
    assert folder_lift(100, 100) == folder_lift(100, 0) == folder_lift(0, 0) == 0


def test_signs_of_two_notes() -> None:
    first = note_shape("2026-03-09", "Sowed leeks on 9 March, covered the peas.")
    second = note_shape("Leeks", "What was sown on the 9th of March came up in a week.")
    signs = bridge_signs(first, second, usual=6.0, nearness=float("nan"), lift=1.0, folders=("Log", "Garden"))
    assert (signs.nearness, signs.dated, signs.same_day, signs.jotted) == (None, "2026-03-09", True, "2026-03-09")
    assert bridge_signs(second, first, usual=6.0, nearness=0.0, lift=1.0).dated == "2026-03-09"


def test_nearness_does_without_what_all_notes_vary_in() -> None:
    """Two languages, the widest direction of all, and one topic: only the topic counts."""
    chance = np.random.default_rng(0)
    notes = 0.3 * chance.standard_normal((200, 32)).astype(np.float32)
    notes[:, 0] += np.where(np.arange(200) % 2, 4, -4)
    notes[:2, 5] += 2.0
    notes[2, 5] -= 2.0
    notes /= np.linalg.norm(notes, axis=1, keepdims=True)
    around = surroundings(background(notes), 200, [])
    pair = notes[:1], notes[1:2]
    assert background(notes).z_scores(*pair)[0] < 0 < around.nearness(*pair)[0]
    assert around.nearness(notes[:1], notes[2:3])[0] < 0
    assert np.isnan(around.nearness(notes[:1], np.zeros((1, 32), np.float32))[0])


def pair(bridge: BridgeSigns | None, *, cosine: float | None = None) -> JudgedPair:
    common = Common(words=(), mention=None, between=None, twins=0.0, overlap=0.0, length=50, one_language=True)
    resonance = None if cosine is None else Resonance(quotes=("a", "b"), cosine=cosine, telling=0, whole=0.4, rank=9)
    found = Juxtaposition(from_="A.md", to="B.md", score=0.01, path=None, resonance=resonance)
    return JudgedPair(found=found, common=common, words=(50, 50), cosine=0.1, bridge=bridge)


def linked(pairs: list[tuple[int, int]], size: int = 100) -> Structure:
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return structure_of(size, ends[:, 0], ends[:, 1])


def test_links_count_by_what_they_tell() -> None:
    lone = [(2 * at, 2 * at + 1) for at in range(20)]
    assert bridge_share(linked([]), 0) == bridge_share(linked(lone[:LINKS_FEW]), 0) == 1
    assert bridge_share(linked(lone[: (LINKS_FEW + LINKS_ENOUGH) // 2]), 0) == 0.5
    assert bridge_share(linked(lone[:LINKS_ENOUGH]), 0) == bridge_share(linked(lone), 0) == 0
    hubs = [(hub, 5 + at) for hub in range(5) for at in range(60)]
    assert bridge_share(linked(hubs), 0) == 1
    assert bridge_share(linked([]), 2 * LINKS_ENOUGH) == 0
    assert 0 < bridge_share(linked([]), 2 * LINKS_FEW + 2) < 1


def test_worth_replaces_the_signs_of_a_bridge_bit_by_bit() -> None:
    bad = replace(GOOD, lift=3.0, folders=("Land", "Land"))
    sure: list[float] = []
    unsure: list[float] = []
    for tenth in range(10, -1, -1):
        for_it, against = judge_pairs(WorthModel(), [pair(GOOD, cosine=0.1), pair(bad, cosine=0.9)], share=tenth / 10)
        assert for_it.probability is not None
        assert against.probability is not None
        sure.append(for_it.probability)
        unsure.append(against.probability)
    assert sure == sorted(sure, reverse=True)
    assert unsure == sorted(unsure)
    assert sure[0] > KEPT_FROM >= sure[-1]


def test_verdicts_of_a_vault_without_links() -> None:
    kept, dropped = judge_pairs(WorthModel(), [pair(GOOD), pair(replace(GOOD, jotting=1.0))], share=1.0)
    assert isinstance(kept, Keep)
    assert kept.reason == f"{NEARER}, and they lie apart, in Land and in Work"
    assert dropped == Drop(dropped.probability, "do not go together: A is written in jottings")
    unknown = pair(replace(GOOD, nearness=None))
    assert judge_pairs(WorthModel(), [unknown], share=1.0) == judge_pairs(WorthModel(), [unknown])


def test_a_strong_bridge_lives_on_beside_links() -> None:
    """The links of a vault once silenced every sign of a bridge; now a strong one keeps a pair, as the last of all."""
    strong = replace(GOOD, nearness=2.0)
    assert bridge_log_odds(strong) >= STRONG_BRIDGE
    (kept,) = judge_pairs(WorthModel(), [pair(strong, cosine=0.1)])
    assert isinstance(kept, Keep)
    assert kept.probability == KEPT_FROM
    (weak,) = judge_pairs(WorthModel(), [pair(replace(GOOD, nearness=0.5), cosine=0.1)])
    assert isinstance(weak, Drop)


WRITTEN = (
    "Feed the heap with greens and browns, and keep it moist and warm. A part of the old heap stays behind and starts "
    "the next heap. The culture of a heap is a living thing much like a sourdough starter."
)


@pytest.mark.parametrize(
    "form",
    [
        "hunter2pass",
        "| what | password |\n| --- | --- |\n| router | hunter3pass |",
        "HEAP_BOT=staging\nREGION=north",
        "Protocol=https;AccountName=heap;AccountKey= ;EndpointSuffix=core.example.net",
        "status: draft\r\narea: garden\r\nmood: quite good",
        "- Stadt: Genf\n- Land: Schweiz",
        "\u4f4d\u7f6e: \u5317\u4eac",
    ],
)
def test_a_form_beside_prose_makes_no_jottings_of_it(form: str) -> None:
    assert clause_words(f"{form}\n\n{WRITTEN}") == clause_words(WRITTEN)
    assert 0 < clause_words(f"{form}\n") < 8


def test_a_label_before_a_sentence_is_prose() -> None:
    said = "Note: when the heap smells sour it is too wet"
    assert clause_words(f"{said}\n{WRITTEN}") != clause_words(WRITTEN)
