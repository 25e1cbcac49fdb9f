"""Whether a claim was tested against its source: told by structure, in any language, and not by praise."""

from __future__ import annotations

import pytest

from aria_dream.evals.reach_score import is_tested

CLAIM = "Bells are mended after a bad harvest\nSo regular!\n[[Votive gifts]]"
SOURCE = "An archivist, by letter: “Of 61 repairs in nine villages 44 fell into the year after a dearth.”"
CHINESE = "档案员来信：九个村庄的六十一次修钟中，有四十四次发生在歉收之后的一年。"


@pytest.mark.parametrize(
    "line",
    [
        "Tested: the letter counts 44 of 61 repairs, and names no cause.",
        "**Tested:** only what an archivist wrote by letter.",
        "- Tested against the source: nine villages, no control.",
        "Geprüft: 44 von 61 Ausbesserungen; eine Ursache nennt der Brief nicht.",
        "Geprüft an der Quelle: 44 von 61.",
        "Vérifié : 44 réparations sur 61, sans dire pourquoi.",
        "Comprobado: 44 de 61; la causa no consta.",
        "Verificato: 44 su 61 riparazioni.",
        "Getoetst: 44 van de 61.",
        "Sprawdzono: 44 z 61.",
        "Проверено: 44 из 61.",
        "検証：44/61 の修理のみ。",
    ],
)
def test_a_piece_of_the_source_shows_that_somebody_looked(line: str) -> None:
    assert is_tested(("Vows are known.", line), SOURCE, CLAIM)


@pytest.mark.parametrize(
    "line",
    [
        "Tested: bells are mended after a bad harvest, so it stands.",  # the claim once more
        "Geprüft: Das ist völlig neu und überaus bemerkenswert.",
        "Tested:",
        "Tested: yes.",
        "The archivist counts 44 of 61.",  # said, and not tested
        "Untested: 44 of 61.",
        "Sources: 44 of 61",
    ],
)
def test_praise_or_the_claim_once_more_is_no_test(line: str) -> None:
    assert not is_tested((line,), SOURCE, CLAIM)


def test_a_script_without_spaces_is_shown_by_two_characters() -> None:
    assert is_tested(("检验：来信只说九个村庄。",), CHINESE, "钟在歉收之后修理")
    assert not is_tested(("检验：很好。",), CHINESE, "钟在歉收之后修理")


def test_a_bare_address_has_nothing_to_show() -> None:
    assert is_tested(("Tested: the page says so for mice alone.",), "https://example.org/p", "Mice dream")
    assert not is_tested(("Tested: yes.",), "https://example.org/p", "Mice dream")
    assert not is_tested((), "https://example.org/p", "Mice dream")
