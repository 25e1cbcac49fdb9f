"""Secrets in the notations that vaults use are taken out, and what only looks like one stays."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TypedDict

import pytest

from aria_dream.privacy import secret_places
from aria_dream.privacy.secrets import redact_secrets, show_marks

FOLDER = Path(__file__).parents[2] / "fixtures" / "secrets"


class Row(TypedDict):
    language: str
    text: str
    gone: list[str]


def rows(name: str) -> list[Row]:
    found: list[Row] = [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]
    return found


TUNING, HELD_OUT = rows("tuning.jsonl"), rows("held_out.jsonl")


@pytest.mark.parametrize("row", [row for row in TUNING if row["gone"]], ids=lambda row: row["text"][:40])
def test_a_secret_goes(row: Row) -> None:
    shown = show_marks(redact_secrets(row["text"])[0])
    assert [secret for secret in row["gone"] if secret in shown] == []


@pytest.mark.parametrize("row", [row for row in TUNING if not row["gone"]], ids=lambda row: row["text"][:40])
def test_what_is_no_secret_stays(row: Row) -> None:
    assert show_marks(redact_secrets(row["text"])[0]) == row["text"]


def test_what_was_not_looked_at_is_judged_as_well() -> None:
    """The figures that DECISIONS.md gives, on the half that nothing was tuned on."""
    secret = [row for row in HELD_OUT if row["gone"]]
    plain = [row for row in HELD_OUT if not row["gone"]]
    assert len(secret) + sum(bool(row["gone"]) for row in TUNING) >= 120
    assert len(plain) + sum(not row["gone"] for row in TUNING) >= 120
    shown = [(row, redact_secrets(row["text"])[0]) for row in secret]
    assert sum(not any(one in text for one in row["gone"]) for row, text in shown) >= 0.98 * len(secret)
    assert sum(redact_secrets(row["text"])[0] == row["text"] for row in plain) >= 0.97 * len(plain)


def test_no_line_is_passed_over_for_want_of_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [redact_secrets(row["text"]) for row in (*TUNING, *HELD_OUT)]
    monkeypatch.setattr(secret_places, "HINT", re.compile(""))
    assert [redact_secrets(row["text"]) for row in (*TUNING, *HELD_OUT)] == before


@pytest.mark.parametrize("row", [row for row in TUNING if row["gone"]], ids=lambda row: row["text"][:40])
def test_a_secret_goes_with_the_line_ends_of_windows_and_inside_a_quotation(row: Row) -> None:
    for text in (row["text"].replace("\r\n", "\n").replace("\n", "\r\n"), re.sub(r"(?m)^", "> ", row["text"])):
        shown = show_marks(redact_secrets(text)[0])
        assert [secret for secret in row["gone"] if secret in shown] == []


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Passwort (Router): igel77nest", "igel77nest"),
        ("Password – igel77nest", "igel77nest"),
        ("## Password\nigel77nest\n\nThe garden is open.", "igel77nest"),
        ("**Passwords**\n\n- bank: igel77nest", "igel77nest"),
        ("| Password: | igel77nest |", "igel77nest"),
        ('<add key="password" value="igel77nest" />', "igel77nest"),
        ("user: anna pass: igel77nest", "igel77nest"),
        ("DB_PASS=igel77nest", "igel77nest"),
        ("dbPassword: igel77nest", "igel77nest"),
        ('accessToken: "igel77nest"', "igel77nest"),
        ("SSID: heron, key: igel77nest", "igel77nest"),
        ("Wi\u2011Fi key: igel77nest", "igel77nest"),
        ("Login: anna, igel77nest", "igel77nest"),
        ("- Bank\n  - User: anna\n  - Password: igel77nest", "igel77nest"),
        ("PIN (card): 4711", "4711"),
        ("código de seguridad: 4711", "4711"),
        ("SIM-PIN 4711", "4711"),
        ("银行卡PIN：4711", "4711"),
        ("Lock combination: 47-11-22", "47-11-22"),
        ("clave wifi igel77nest", "igel77nest"),
        ("chiave di rete: igel77nest", "igel77nest"),
        ("| Network | Key |\n| --- | --- |\n| Heron | igel77nest |", "igel77nest"),
        ("- [ ] Passwords (mine)\n  - shop – igel77nest", "igel77nest"),
        ("foo=Zx81-mQpL-0vRt-63yW-bN5c", "Zx81-mQpL"),
        ("heap:: Zx81mQpL0vRt63yWbN5c", "Zx81mQpL0vRt"),
        ("Login - anna / igel77nest", "igel77nest"),
        ("비번: igel77nest", "igel77nest"),
        ("garden = Zx81mQpL0vRt63yWbN5c", "Zx81mQpL0vRt"),
        ("Die Geheimzahl der EC-Karte: 4711", "4711"),
        ("PUK meiner SIM-Karte 47114711", "47114711"),
        ("Digicode de l'immeuble : 47B11", "47B11"),
        ("Código do cofre: 4711", "4711"),
        ("Code van de kluis: 4711", "4711"),
        ("Код от сейфа: 4711", "4711"),
        ("金庫の番号は 4711 です。", "4711"),
        ("The safe's combination is 47-11-22.", "47-11-22"),
        ("gate code - 4711#", "4711"),
        ("My passphrase is correct horse battery staple.", "horse battery"),
        ("Meine Passphrase lautet kirsche lampe boot wiese", "lampe boot"),
        ("Password\n: igel77nest\n", "igel77nest"),
        ("> [!note] Password\n> igel77nest", "igel77nest"),
        ("wifi pw at grandma's is igel77nest", "igel77nest"),
        ("the password itself - igel77nest", "igel77nest"),
        ("TOTP secret JBSWY3DPEHPK3PXP", "JBSWY3DPEHPK3PXP"),
        ("API key q7Rt-2LmX-99pa-Zk31", "q7Rt-2LmX"),
        ("Set-Cookie: session=9f8Ab27cD1e4F6a0b3C5", "9f8Ab27cD1e4"),
    ],
)
def test_siblings(text: str, secret: str) -> None:
    assert secret not in show_marks(redact_secrets(text)[0])


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=4096 and tokens: 128000",
        "account: savings / 2019",
        'class="language-python3" id="fnref1"',
        "mountain pass: 1847 m, pass rate: 80%",
        "PMID 31452104, OCLC=123456789, LCCN 2004567890",
        "Her PIN-up calendar of 1962, and the pins from 1950",
        "The error code is 404, the zip code 90210.",
        "wifi: 2.4 GHz / 5 GHz",
        "password policy: rotate every 90 days",
        "![[image-20240117093045.png]]",
        "202401170930456 and 1700000000003 are instants",
        "EAN 9780306406164, ISBN 9791234567896",
        "The passphrase was forgotten again last week.",
        "A passphrase is several random words joined together.",
        "The secret f47ac10b-58cc-4372-a567-0e02b2c3d479 is an id, the token 9fceb02a is none.",
        "Alarm code: EN50131 grade 2, safe code - 1998 edition",
    ],
)
def test_no_false_alarm(text: str) -> None:
    assert show_marks(redact_secrets(text)[0]) == text
