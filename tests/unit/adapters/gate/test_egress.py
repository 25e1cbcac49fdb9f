"""Which address is this machine's, who may leave it, and what the log keeps of that."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.gate.consent import CONSENT, has_consent, write_consent
from aria_dream.adapters.gate.egress import EGRESS, Cleared, ClearedText, Endpoint, Gate, Turned, find_endpoint
from aria_dream.errors import WriteRefusedError
from aria_dream.policy.policy import parse_policy
from aria_dream.privacy.sharing import ShareableExcerpt, Sharing, excerpt_text, survey

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMATS = Path(__file__).resolve().parents[4] / "docs" / "FORMATS.md"
AT = datetime(2026, 11, 30, 3, 12, tzinfo=UTC)
KNOWN = {
    "localhost": ["::1", "127.0.0.1"],
    "judge.lan": ["192.168.1.7"],
    "mixed.example": ["127.0.0.1", "203.0.113.9"],
    "nowhere.example": ["0.0.0.0"],
    "rebound.example": ["127.0.0.1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "evil.example": ["203.0.113.9"],
}


def resolve(host: str, _port: int) -> Sequence[str]:
    if host not in KNOWN:
        raise OSError("no such name")
    return KNOWN[host]


def sharing(policy: str = "") -> Sharing:
    parsed, _ = parse_policy(policy)
    return survey([], parsed)[0]


def gate(state: Path, *, allowed: bool = True, policy: str = "") -> Gate:
    return Gate(
        state=state, sharing=sharing(policy), purpose="triage", allowed=allowed, resolve=resolve, now=lambda: AT
    )


def excerpt(text: str = "Compost wants air; ask me@example.org.") -> ShareableExcerpt:
    made = excerpt_text(sharing(), text, title="Compost")
    assert isinstance(made, ShareableExcerpt)
    return made


@pytest.mark.parametrize(
    ("url", "address", "base"),
    [
        ("http://127.0.0.1:11434", "127.0.0.1", ""),
        ("http://127.200.3.4:1/v1/", "127.200.3.4", "/v1"),
        ("http://[::1]:11434", "::1", ""),
        ("http://localhost:11434/", "127.0.0.1", ""),
        ("HTTP://LOCALHOST.:11434", "127.0.0.1", ""),
        ("http://127.0.0.1.", "127.0.0.1", ""),  # a full name's dot changes nothing
        ("http://rebound.example:80", "127.0.0.1", ""),
    ],
)
def test_this_machine(url: str, address: str, base: str) -> None:
    found = find_endpoint(url, resolve=resolve)
    assert isinstance(found, Endpoint)
    assert (found.is_loopback, found.address, found.base) == (True, address, base)


@pytest.mark.parametrize(
    "url",
    ["http://192.168.1.7:11434", "http://judge.lan:11434", "https://evil.example", "http://[2001:db8::1]:1",
     "http://169.254.169.254", "http://10.0.0.1:1"],
)  # fmt: skip
def test_another_machine(url: str, tmp_path: Path) -> None:
    found = find_endpoint(url, resolve=resolve)
    assert isinstance(found, Endpoint)
    assert not found.is_loopback
    assert isinstance(gate(tmp_path).admit(url), Turned)


@pytest.mark.parametrize(
    "url",
    [
        "http://0.0.0.0:11434",
        "http://[::]:11434",
        "http://nowhere.example",
        "http://2130706433",
        "http://0x7f000001",
        "http://0x7f.0.0.1",
        "http://127.1",
        "http://0177.0.0.1",
        "http://[::ffff:127.0.0.1]",
        "http://mapped.example",
        "http://mixed.example",
        "http://unknown.example",
        "http://user@127.0.0.1",
        "http://127.0.0.1@evil.example",
        "http://127.0.0.1:80@evil.example",
        "http://127.0.0.1\\@evil.example",
        "http://evil.example#@127.0.0.1",
        "http://127.0.0.1?x=1",
        "http://127.0.0.1%2eevil.example",
        "http://[fe80::1%25eth0]",
        "http://ⓛocalhost",
        "http://１２７.0.0.1",
        "http://local host",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:0",
        "http://127.0.0.1/ü",
        "http://127.0.0.1/a b",
        "http://127.0.0.1/x\r\nEvil: 1",
        "http://127.0.0.1:x",
        "http://224.0.0.1",
        "http://",
        "ftp://127.0.0.1",
        "file:///etc/passwd",
        "127.0.0.1:11434",
        "",
    ],
)
def test_no_address_at_all(url: str) -> None:
    assert isinstance(find_endpoint(url, resolve=resolve), Turned)


def test_another_machine_needs_policy_and_confirmation(tmp_path: Path) -> None:
    url = "http://judge.lan:11434"
    refused = gate(tmp_path, allowed=False).admit(url)
    assert isinstance(refused, Turned)
    assert "allow_remote_triage" in refused.reason
    refused = gate(tmp_path).admit(url)
    assert isinstance(refused, Turned)
    assert "nobody confirmed" in refused.reason
    write_consent(tmp_path, AT)
    assert isinstance(gate(tmp_path).admit(url), Endpoint)
    assert isinstance(gate(tmp_path, allowed=False).admit(url), Turned)
    assert isinstance(gate(tmp_path, policy="- never_send: Nothing/\n").admit(url), Turned)  # sending is shut


def test_a_confirmation_holds_on_its_machine_only(tmp_path: Path) -> None:
    assert not has_consent(tmp_path)
    write_consent(tmp_path, AT, machine="elsewhere")
    assert not has_consent(tmp_path)
    assert has_consent(tmp_path, machine="elsewhere")
    for text in ("", "{", "[]", "null", '{"version": 1}', '{"version": 2, "confirmed_at": "x"}', "[" * 100_000):
        (tmp_path / CONSENT).write_text(text, encoding="utf-8")
        assert not has_consent(tmp_path)


def test_what_leaves_is_logged_before_and_never_as_text(tmp_path: Path) -> None:
    write_consent(tmp_path, AT)
    here = gate(tmp_path)
    endpoint = here.admit("http://judge.lan:11434")
    assert isinstance(endpoint, Endpoint)
    body = "Compost wants air — so says a note".encode()
    cleared = here.clear(endpoint, [excerpt()], lambda: body)
    assert isinstance(cleared, Cleared)
    assert cleared.body == body
    log = (tmp_path / EGRESS).read_text(encoding="utf-8")
    assert "air" not in log
    record = json.loads(log)
    assert record["sha256"] == sha256(body).hexdigest()
    assert record["characters"] == len(body.decode())
    assert (record["destination"], record["purpose"]) == ("http://judge.lan:11434", "triage")
    assert record["at"] == AT.isoformat()
    assert record["blanked"] == {"e-mail": 1}
    page = FORMATS.read_text(encoding="utf-8").partition("### `egress.jsonl`")[2].partition("###")[0]
    assert list(record) == re.findall("(?m)^\\| `([^`]+)`", page)


def test_a_withdrawn_confirmation_counts_at_once(tmp_path: Path) -> None:
    write_consent(tmp_path, AT)
    here = gate(tmp_path)
    endpoint = here.admit("http://judge.lan:11434")
    assert isinstance(endpoint, Endpoint)
    (tmp_path / CONSENT).unlink()
    assert isinstance(here.clear(endpoint, [excerpt()], lambda: b"x"), Turned)
    assert not (tmp_path / EGRESS).exists()


def test_only_excerpts_pass_and_only_logged(tmp_path: Path) -> None:
    write_consent(tmp_path, AT)
    here = gate(tmp_path)
    endpoint = here.admit("http://judge.lan:11434")
    assert isinstance(endpoint, Endpoint)
    with pytest.raises(TypeError):
        here.clear(endpoint, ["text of a note"], lambda: b"x")  # type: ignore[list-item]  # that is the test
    (tmp_path / EGRESS).mkdir()
    with pytest.raises(WriteRefusedError):
        here.clear(endpoint, [excerpt()], lambda: b"x")


def test_nobody_else_makes_an_endpoint_or_clears_a_body(tmp_path: Path) -> None:
    endpoint = find_endpoint("http://127.0.0.1:1", resolve=resolve)
    assert isinstance(endpoint, Endpoint)
    with pytest.raises(TypeError):
        Endpoint(scheme="http", host="h", port=1, base="", address="203.0.113.9", is_loopback=True)
    with pytest.raises(TypeError):
        Cleared(endpoint=endpoint, body=b"x")
    assert replace(endpoint, base="/v1").base == "/v1"


def test_a_text_for_a_program_needs_the_policy_and_the_confirmation_and_is_logged_before(tmp_path: Path) -> None:
    rendered: list[str] = []

    def render() -> str:
        rendered.append("asked")
        return "Compost wants air"

    def cleared(here: Gate) -> ClearedText | Turned:
        return here.clear_text("Codex (gpt-5.5)", [excerpt()], render)

    unconfirmed = cleared(gate(tmp_path))
    assert isinstance(unconfirmed, Turned)
    assert "nobody confirmed" in unconfirmed.reason
    write_consent(tmp_path, AT)
    closed = gate(tmp_path, policy="- never_send: Nothing/\n")  # a pattern that means no note shuts sending
    assert isinstance(cleared(closed), Turned)
    assert closed.text_refusal()
    assert not rendered
    assert not (tmp_path / EGRESS).exists()
    text = cleared(replace(gate(tmp_path), purpose="reach"))
    assert isinstance(text, ClearedText)
    assert (text.destination, text.text) == ("Codex (gpt-5.5)", "Compost wants air")
    record = json.loads((tmp_path / EGRESS).read_text(encoding="utf-8"))
    assert (record["destination"], record["purpose"]) == ("Codex (gpt-5.5)", "reach")
    assert record["sha256"] == sha256(b"Compost wants air").hexdigest()
    assert record["blanked"] == {"e-mail": 1}
    with pytest.raises(TypeError):
        gate(tmp_path).clear_text("Codex", ["text of a note"], render)  # type: ignore[list-item]  # that is the test
    with pytest.raises(TypeError):
        ClearedText(destination="Codex", text="text of a note")


def test_what_would_leave_can_be_seen_without_leaving(tmp_path: Path) -> None:
    assert gate(tmp_path).show_text([excerpt()], lambda: "Compost wants air") == "Compost wants air"
    assert not (tmp_path / EGRESS).exists()
    with pytest.raises(TypeError):
        gate(tmp_path).show_text(["text"], lambda: "text")  # type: ignore[list-item]  # that is the test


def test_a_text_that_cannot_be_logged_does_not_leave(tmp_path: Path) -> None:
    write_consent(tmp_path, AT)
    (tmp_path / EGRESS).mkdir()
    with pytest.raises(WriteRefusedError):
        gate(tmp_path).clear_text("Codex (gpt-5.5)", [excerpt()], lambda: "x")
