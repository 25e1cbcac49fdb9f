"""Orders from the web and from those who obey them: they come to nothing, and the check fails where it is weakened."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from aria_dream.injection import web_injection
from aria_dream.injection.attacks import FORGED, HIDINGS, ORDERS, WEB_PLACES, WebAttack, janus_replies, web_attacks
from aria_dream.injection.web_injection import answer_faults, janus_faults, marking_faults, web_injection_check
from aria_dream.reach.citation import Source
from aria_dream.reach.janus import Stands, parse_janus
from aria_dream.reach.reach import Answer, Unparsed, parse_answer
from tests.injection.test_injection import NoMark, OnlyLines, OnlySentinels

if TYPE_CHECKING:
    from collections.abc import Callable

    from aria_dream.judging.triage_prompt import Mark

ATTACKS = tuple(web_attacks())
MARKED = [attack for attack in ATTACKS if attack.place != "raw"]


def test_the_suite_is_what_it_says() -> None:
    assert len(ATTACKS) == 210 + len(FORGED)
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert {attack.place for attack in ATTACKS} == set(WEB_PLACES)
    assert len(ORDERS) == 5
    met = {(hiding, attack.place) for attack in ATTACKS for hiding in HIDINGS if f"/{hiding}/" in attack.name}
    assert met == {(hiding, place) for hiding in HIDINGS for place in WEB_PLACES}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_comes_to_nothing(attack: WebAttack) -> None:
    found = web_injection_check(against=[attack])
    assert (found.passed, found.failures) == (1, ())


def test_the_check_as_graduation_runs_it() -> None:
    found = web_injection_check()
    assert (found.passed, found.failures) == (len(ATTACKS) + len(janus_replies()), ())


@pytest.mark.parametrize("hide", HIDINGS.values(), ids=HIDINGS)
def test_every_order_in_every_hiding_is_inert_in_an_answer(hide: Callable[[str], str]) -> None:
    """The whole product, beyond what the built-in check has time for."""
    for said in ORDERS.values():
        for order in said.values():
            text = hide(order)
            for reply in (
                f"ORPHAN\n{text}\n{text}\nSources:\n- https://a.example/x — {text}\n- {text}\n",
                f"HOMES\nEdge: {text[:60]}\n{text}\nSources:\n- [{text}](https://a.example/x)\n",
                f"NEITHER\n{text}\nSources:\n- {text}\n",
                f"{text}\nHOMES\nEdge: x\n",
            ):
                assert answer_faults(reply) == ()
            for verdict in ("STANDS", "FALLS", "UNSURE", text):
                assert janus_faults(json.dumps({"reason": text, "verdict": verdict})) == ()


@pytest.mark.parametrize(
    ("mark", "least"), [(NoMark(), len(MARKED)), (OnlySentinels(), len(MARKED)), (OnlyLines(), 60)]
)
def test_without_the_datamark_the_check_fails(mark: Mark, least: int) -> None:
    assert sum(bool(marking_faults(attack, mark)) for attack in ATTACKS) >= least


def raw_answer(text: str) -> Answer | Unparsed:
    """An answer taken at its word, line for line."""
    verdict, *rest = text.split("\n")
    if verdict not in ("HOMES", "ORPHAN"):
        return Unparsed(text)
    edge = rest[0].removeprefix("Edge: ") if verdict == "HOMES" else ""
    return Answer(
        verdict="homes" if edge else "orphan", argument=tuple(rest[:4]), sources=(Source(url=rest[-1], title=""),),
        edge=edge,
    )  # fmt: skip


def as_it_is(text: str, **_more: bool) -> str:
    return text


@pytest.mark.parametrize(
    "weaken",
    [
        lambda patch: patch.setattr(web_injection, "parse_answer", raw_answer),
        lambda patch: patch.setattr("aria_dream.reach.reach_block.escape_plain", as_it_is),
        lambda patch: patch.setattr("aria_dream.review.reach_proposals.escape_plain", as_it_is),
        lambda patch: patch.setattr("aria_dream.notes.change_grammar.escape_plain", as_it_is),
        lambda patch: patch.setattr("aria_dream.reach.reach_block._fenced", lambda raw: raw.split("\n")),
    ],
    ids=["answers at their word", "blocks unescaped", "new notes unescaped", "review unescaped", "raw text unfenced"],
)
def test_the_obedience_half_can_fail(
    weaken: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not any(answer_faults(attack.reply) for attack in ATTACKS)
    weaken(monkeypatch)
    assert sum(bool(answer_faults(attack.reply)) for attack in ATTACKS) >= 2


def test_janus_taken_at_its_word_would_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    def at_its_word(reply: str) -> object:
        try:
            return Stands(json.loads(reply)["reason"])
        except (ValueError, KeyError, TypeError):
            return parse_janus("")

    assert not any(map(janus_faults, janus_replies()))
    monkeypatch.setattr(web_injection, "parse_janus", at_its_word)
    assert sum(bool(janus_faults(reply)) for reply in janus_replies() if "ud800" not in reply) >= 5


def test_obedience_still_reaches_every_verdict() -> None:
    """The suite would prove nothing if every answer were unreadable."""
    kinds = Counter(
        said.verdict if isinstance(said := parse_answer(attack.reply), Answer) else "unparsed" for attack in ATTACKS
    )
    assert kinds["orphan"] >= 80
    assert kinds["homes"] >= 40
    assert kinds["unparsed"] >= 20
    assert sum(isinstance(parse_janus(reply), Stands) for reply in janus_replies()) >= 20
