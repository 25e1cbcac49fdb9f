"""Private names in letters that only look like their own; and ordinary words, which are none of them."""

from __future__ import annotations

import json
import unicodedata
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from aria_dream.markdown.note import decode_note
from aria_dream.policy.policy import parse_policy
from aria_dream.privacy.look_alikes import Looks, look_alike
from aria_dream.privacy.private_names import BLANK_SHOWN, private_names
from aria_dream.privacy.sharing import ShareableExcerpt, Sharing, Withheld, excerpt_text, survey
from tests.unit.privacy.test_sharing import Facts

if TYPE_CHECKING:
    from pathlib import Path

ANNA, ILSE, LONG = "Anna", "Ilse Brandt", "Projekt Waldohreule"


def shown(name: str, text: str, *, whole: bool) -> list[str]:
    return [text[start:end] for start, end in Looks(text).spans(look_alike(name, whole=whole))]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        (ANNA, "\u0410nna"),  # a Cyrillic capital A
        (ANNA, "Ann\u0430"),
        (ANNA, "\u0391nna"),  # a Greek one
        (ANNA, "\uff21\uff4e\uff4e\uff41"),  # full width
        (ANNA, "A\uff4ena"),
        (ANNA, "\U0001d400\U0001d427\U0001d427\U0001d41a"),  # mathematical bold
        (ANNA, "\u24b6nna"),  # a letter in a circle
        (ANNA, "\U0001f150nna"),  # in a dark one
        (ANNA, "\u1d00nna"),  # a small capital
        (ANNA, "A\u0332n\u0332n\u0332a\u0332"),
        (ANNA, "An\u0308na"),
        ("Ian", "1an"),
        ("Alan", "AIan"),
        ("Bob", "B0b"),
        ("\u0410\u043d\u043d\u0430", "A\u043d\u043d\u0430"),  # a Cyrillic name with one Latin letter
        (ILSE, "IIse Brandt"),
        (ILSE, "1lse Brandt"),
        (ILSE, "llse Brandt"),
        (ILSE, "|lse Brandt"),
        (ILSE, "Ilse  Br\u0430ndt"),
        (ILSE, "I1se_Brandt"),
        (LONG, "Pr\u03bfjekt Wa1d0hreule"),
        (LONG, "Pro\u0458\u0435kt W\u0430ldohr\u0435ul\u0435"),
        ("Fiona Flink", "\ufb01ona \ufb02ink"),  # ligatures
        ("Müller", "Mu\u0308l1er"),
        ("Søren K.", "S\u043eren K."),
    ],
)
def test_a_disguised_name_is_found_whole(name: str, written: str) -> None:
    weight_is_small = len(name) < 5
    assert shown(name, f"so {written}, and", whole=weight_is_small) == [written]
    assert private_names([(f"{name}.md", ())]).blank(f"so {written}, and")[1] == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Ian", "lan LAN Lan Ian's lanes"),
        ("Al", "A1 AI also A1."),
        ("Ali", "all ALL All"),
        ("Fails", "falls, walls and FALLS"),
        ("Modem", "modern times"),
        ("Amy", "Arny"),
        ("cop", "\u0441\u043e\u0440"),  # a Russian word of its own
        ("mas", "más"),
        ("cid", "a|b c|d"),
        ("issue 0", "an issue of it"),
        ("100", "IOO lOO"),
        ("Anna", "Hanna Ánna Annabel"),
    ],
)
def test_an_ordinary_word_is_no_name(name: str, text: str) -> None:
    assert shown(name, text, whole=len(name) < 5) == []


def sharing_of(*titles: str) -> Sharing:
    policy, _ = parse_policy("- never_send: Private\n")
    return survey([Facts(path=f"Private/{title}.md") for title in titles], policy)[0]


@pytest.mark.parametrize("name", [ANNA, ILSE])
@pytest.mark.parametrize(
    "spelled",
    ["{0}\u00ad{1}", "{0}\u200b{1}", "{0}\u2060{1}", "{0}\u200f{1}", "{0}\U000e0041{1}", "{0}\u034f{1}", "{0}&shy;{1}"],
)
def test_what_nobody_sees_hides_no_name(name: str, spelled: str) -> None:
    made = excerpt_text(sharing_of(name), f"with {spelled.format(name[:2], name[2:])} there")
    if isinstance(made, ShareableExcerpt):
        assert made.text == f"with {BLANK_SHOWN} there"


def test_a_name_that_stands_turned_round_is_seen_as_it_is_read() -> None:
    made = excerpt_text(sharing_of(ANNA, ILSE), "with \u202eannA\u202c and \u202etdnarB eslI\u202c there")
    assert isinstance(made, ShareableExcerpt)
    assert made.text == f"with {BLANK_SHOWN} and {BLANK_SHOWN} there"


def test_a_long_name_that_is_torn_apart_as_well_keeps_the_excerpt_here() -> None:
    sharing = sharing_of("Waldohreule 7")
    assert isinstance(excerpt_text(sharing, "W\u0430ldohr\u0435ul\u04357 and W.\u0430.l.d.o.h.r.e.u.l.e 7"), Withheld)
    assert isinstance(excerpt_text(sharing, "Waldohreulen sind 7 da"), ShareableExcerpt)


def test_every_letter_that_unicode_takes_for_an_ascii_one_is_taken_for_it() -> None:
    """Against the consortium's own table (TS #39), as another package carries it. The long s, which it takes for an f,
    is an s here."""
    table = json.loads((files("confusable_homoglyphs") / "confusables.json").read_text(encoding="utf-8"))
    missed = []
    for plain in "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ":
        for other in table.get(plain, ()):
            alike = other["c"].replace("\u200e", "")
            if len(alike) == 1 and alike != "\u017f" and not unicodedata.normalize("NFC", alike).isascii():
                name = f"Zw{plain}ck Zw{plain}ck"
                if not shown(name, name.replace(plain, alike), whole=False):
                    missed.append((plain, alike))
    assert not missed


def test_no_ordinary_word_of_a_real_vault_is_taken_for_a_name_of_it(shared: Path) -> None:
    for vault in [shared / "vaults" / name for name in ("kepano", "horcy-zh-tw", "foam-docs")]:
        notes = {path.relative_to(vault).as_posix(): decode_note(path.read_bytes()) for path in vault.rglob("*.md")}
        names = private_names((path, ()) for path in notes)
        exact = private_names((path, ()) for path in notes)
        object.__setattr__(exact, "disguises", ())
        for path, text in notes.items():
            assert names.blank(text) == exact.blank(text), path
