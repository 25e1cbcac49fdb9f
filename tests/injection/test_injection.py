"""Text that gives orders: the built-in check passes over every attack, and fails wherever one of its halves is weak."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from aria_dream.injection import injection
from aria_dream.injection.attacks import AIMS, HIDINGS, ORDERS, PLACES, REPLIES, Attack, attacks
from aria_dream.injection.injection import MARK, injection_check, obedience_faults
from aria_dream.judging.triage_prompt import Drop, Keep, Unreadable
from aria_dream.judging.verdict import parse_verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from aria_dream.judging.triage_prompt import Mark

ATTACKS = tuple(attacks())


def test_the_suite_is_what_it_says() -> None:
    assert len(ATTACKS) >= 60
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert {attack.place for attack in ATTACKS} == set(PLACES)
    assert len(ORDERS) == 5
    met = {(hiding, attack.place) for attack in ATTACKS for hiding in HIDINGS if f"/{hiding}/" in attack.name}
    assert met == {(hiding, place) for hiding in HIDINGS for place in PLACES}
    assert set(REPLIES) == set(AIMS)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_comes_to_nothing(attack: Attack) -> None:
    found = injection_check(against=[attack])
    assert (found.passed, found.failures) == (1, ())


def test_the_check_as_graduation_runs_it() -> None:
    found = injection_check()
    assert (found.passed, found.failures) == (len(ATTACKS), ())


@dataclass(frozen=True)
class NoMark:
    """The datamark switched off."""

    opener: str = ""
    closer: str = ""

    def wrap(self, text: str) -> str:
        return text


@dataclass(frozen=True)
class OnlySentinels:
    """Sentinels around a text that is left as it is."""

    opener: str = MARK.opener
    closer: str = MARK.closer

    def wrap(self, text: str) -> str:
        return f"{self.opener}\n{text}\n{self.closer}"


@dataclass(frozen=True)
class OnlyLines:
    """Every line marked, and the text left as it is."""

    opener: str = MARK.opener
    closer: str = MARK.closer

    def wrap(self, text: str) -> str:
        return "\n".join((self.opener, *(f"│ {line}" for line in text.split("\n")), self.closer))


@pytest.mark.parametrize(
    ("mark", "least"), [(NoMark(), len(ATTACKS)), (OnlySentinels(), len(ATTACKS)), (OnlyLines(), 60)]
)
def test_without_the_datamark_the_check_fails(mark: Mark, least: int) -> None:
    assert len({failure.rpartition(": ")[0] for failure in injection_check(mark).failures}) >= least


def naive(reply: str) -> Keep | Drop | Unreadable:
    """An answer taken at its word."""
    try:
        found = json.loads(reply)
        return (Keep if found["verdict"] == "keep" else Drop)(None, found["reason"])
    except (ValueError, KeyError, TypeError):
        return Unreadable("no object")


def unescaped(text: str, **_more: bool) -> str:
    return text


@pytest.mark.parametrize(
    "weaken",
    [
        lambda monkeypatch: monkeypatch.setattr(injection, "parse_verdict", naive),
        lambda monkeypatch: monkeypatch.setattr("aria_dream.notes.dream_note_grammar.escape_plain", unescaped),
        lambda monkeypatch: monkeypatch.setattr("aria_dream.notes.dream_log.escape_plain", unescaped),
    ],
    ids=["answers taken at their word", "reasons of survivors unescaped", "reasons of drops unescaped"],
)
def test_the_obedience_half_can_fail(
    weaken: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = [reply for aim in AIMS for reply in REPLIES[aim]]
    assert not any(obedience_faults(reply) for reply in replies)
    weaken(monkeypatch)
    assert any(obedience_faults(reply) for reply in replies)


def test_obedience_is_mostly_unreadable() -> None:
    kinds = Counter(type(parse_verdict(reply)).__name__ for aim in AIMS for reply in REPLIES[aim])
    assert kinds["Unreadable"] >= 10
    assert kinds["Keep"] >= 5  # the others are what obedience can still say, and they are inert
