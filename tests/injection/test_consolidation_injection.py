"""The check of a consolidation's prompts passes over every attack, and fails wherever one of its halves is weak."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from aria_dream.consolidate import answers
from aria_dream.consolidate.answers import parse_conflict_verdict, parse_pair_verdict, wording_fault
from aria_dream.consolidate.verdict import KeepA, Merge, Normalize, Unreadable
from aria_dream.injection import consolidation as injection
from aria_dream.injection.attacks import PLACES, attacks
from aria_dream.injection.consolidation import FIRST, REPLIES, SECOND, SMUGGLED, consolidation_check, obedience_faults
from aria_dream.injection.injection import MARK
from tests.injection.test_injection import NoMark, OnlyLines, OnlySentinels

if TYPE_CHECKING:
    from collections.abc import Callable

    from aria_dream.injection.attacks import Attack
    from aria_dream.judging.triage_prompt import Mark

ATTACKS = tuple(attacks())


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_comes_to_nothing(attack: Attack) -> None:
    assert injection.marking_faults(attack, MARK) == ()


def test_the_check_as_graduation_runs_it() -> None:
    found = consolidation_check()
    assert (found.passed, found.failures) == (len(ATTACKS), ())
    assert {attack.place for attack in ATTACKS} == set(PLACES)


@pytest.mark.parametrize(("mark", "least"), [(NoMark(), 210), (OnlySentinels(), 210), (OnlyLines(), 50)])
def test_without_the_datamark_the_check_fails(mark: Mark, least: int) -> None:
    failed = {failure.rpartition(": ")[0] for failure in consolidation_check(mark).failures}
    assert len(failed) >= least


@pytest.mark.parametrize("reply", REPLIES, ids=range(len(REPLIES)))
def test_an_obedient_answer_decides_about_the_two_passages_or_is_none(reply: str) -> None:
    assert obedience_faults(reply) == ()


def test_obedience_is_mostly_unreadable() -> None:
    pairs = Counter(type(parse_pair_verdict(reply, FIRST, SECOND)).__name__ for reply in REPLIES)
    conflicts = Counter(type(parse_conflict_verdict(reply)).__name__ for reply in REPLIES)
    assert pairs["Unreadable"] >= len(SMUGGLED)
    assert pairs["Merge"] >= 2  # the others are what obedience can still say, and they are inert
    assert pairs["Normalize"] == 1
    assert conflicts["KeepA"] >= 2


def naive_pair(reply: str, _first: str, _second: str) -> Merge | Normalize | Unreadable:
    """An answer taken at its word."""
    try:
        found = json.loads(reply)
        if found["verdict"] == "normalize":
            return Normalize(reason=found["reason"], confidence=1.0, wording=found["wording"])
        return Merge(reason=found["reason"], confidence=1.0)
    except (ValueError, KeyError, TypeError):
        return Unreadable(reason="no object")


def naive_conflict(reply: str) -> KeepA | Unreadable:
    try:
        return KeepA(reason=json.loads(reply)["reason"], confidence=1.0)
    except (ValueError, KeyError, TypeError):
        return Unreadable(reason="no object")


@pytest.mark.parametrize(
    "weaken",
    [
        lambda monkeypatch: monkeypatch.setattr(injection, "parse_pair_verdict", naive_pair),
        lambda monkeypatch: monkeypatch.setattr(injection, "parse_conflict_verdict", naive_conflict),
        lambda monkeypatch: monkeypatch.setattr(answers, "wording_fault", lambda _wording, _passages: ""),
        lambda monkeypatch: monkeypatch.setattr(answers, "plain_reason", lambda said: said),
    ],
    ids=["pairs taken at their word", "conflicts taken at their word", "wordings unlooked at", "reasons as they are"],
)
def test_the_obedience_half_can_fail(
    weaken: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    weaken(monkeypatch)
    assert any(obedience_faults(reply) for reply in REPLIES)
    assert consolidation_check().passed == 0


@pytest.mark.parametrize("wording", SMUGGLED, ids=range(len(SMUGGLED)))
def test_a_wording_brings_nothing_in_that_acts(wording: str) -> None:
    assert wording_fault(wording, (FIRST, SECOND))


@pytest.mark.parametrize(
    "wording",
    [
        "The heap of Lund is fed 2 times a week, see [[Microbes]]. It wants air. #garden",
        "# Feeding\n\nIt is fed: 2–3 × a week (5 > 3, 50 %), “often” & gladly.\n\n1. Air\n2. Water\n\n- *both*\n",
        "Es wird zweimal die Woche gefüttert.",
        "堆肥每周喂两次。",
    ],
)
def test_a_plain_wording_may_stand(wording: str) -> None:
    assert wording_fault(wording, (FIRST, SECOND)) == ""
