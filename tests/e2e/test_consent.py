"""The confirmation of this machine, given and withdrawn as a person does it, and a judge elsewhere that hangs on it.

The judge listens on an address of this machine that is no loopback one, or behind a proxy on loopback: either way the
gate sees another machine, and not a byte leaves this one.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.gate.consent import CONSENT, PERMITS, Confirmed, Unconfirmed, has_consent, read_consent
from aria_dream.adapters.gate.egress import EGRESS
from tests.e2e.test_dream import make_vault, run
from tests.model_servers import KEEP, FakeModel, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).resolve().parents[2]
PRIVATE = ("Tax return.md", "Receipts.md")
NOWHERE = "http://203.0.113.9"


def consent(*words: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("consent", *words, "--json").stdout)
    return found


def test_given_shown_and_withdrawn(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "vault")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert (consent(root)["confirmed"], consent(root)["reason"]) == (False, "nobody confirmed it")
    assert "no text of a note leaves this machine" in run("consent").stdout
    given = consent("--give", "--yes")
    assert given["confirmed"]
    assert given["permits"] == list(PERMITS)
    state = find_places().state
    found = read_consent(state)
    assert isinstance(found, Confirmed)
    assert (found.machine, found.permits) == (socket.gethostname(), PERMITS)
    assert found.at.isoformat() == given["confirmed_at"] == consent(root)["confirmed_at"]
    assert consent("--give", "--yes")["confirmed_at"] == given["confirmed_at"]
    assert "Confirmed on this machine" in run("consent").stdout
    assert "confirmed on" in consent_line(root)
    assert not consent("--withdraw")["confirmed"]
    assert not has_consent(state)
    assert not consent("--withdraw")["confirmed"]
    assert "not confirmed" in consent_line(root)
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def consent_line(root: Path) -> str:
    report = json.loads(run("doctor", root, "--json", check=False).stdout)
    (text,) = [each["text"] for each in report["findings"] if each["name"] == "consent"]
    return str(text)


def test_withdrawing_works_whatever_else_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("consent", "--give", "--yes")
    monkeypatch.setenv("ARIA_DREAM_VAULT", str(tmp_path / "gone"))
    assert run("consent", "--withdraw", check=False).returncode == 3
    assert not has_consent(find_places().state)


def test_a_script_must_say_yes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "aria_dream", "consent", "--give"],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert not has_consent(find_places().state)
    assert run("consent", "--yes", check=False).returncode == 2
    assert run("consent", "--withdraw", "--yes", check=False).returncode == 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs Linux or macOS, or needs Windows' own terminal")
@pytest.mark.parametrize(("answer", "is_given"), [(b"y\n", True), (b"n\n", False), (b"\n", False), (b"\x04", False)])
def test_a_person_is_told_what_leaves_and_to_whom(tmp_path: Path, answer: bytes, is_given: bool) -> None:
    import pty

    root = make_vault(tmp_path / "vault")
    policy(root, f"{NOWHERE}:11434", remote="on")
    person, program = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "aria_dream", "consent", str(root), "--give"],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=program, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        os.close(program)
        os.write(person, answer)
        out, told = process.communicate(timeout=120)
    os.close(person)
    assert "excerpts of the two notes" in told.decode()
    assert f"the judge at {NOWHERE}:11434 is sent excerpts" in told.decode()
    assert has_consent(find_places().state) is is_given
    assert (b"Confirmed on this machine" in out) is is_given
    assert process.returncode == (0 if is_given else 130)


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000, '{"version": 1, "confirmed_at": "today"}', "{} {}"])
def test_a_file_in_doubt_confirms_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / CONSENT).write_text(text, encoding="utf-8")
    found = read_consent(tmp_path)
    assert isinstance(found, Unconfirmed)
    assert CONSENT in found.reason


def policy(root: Path, url: str, *, backend: str = "ollama", remote: str) -> None:
    wire = {"ollama": "ollama_url", "openai": "triage_url"}[backend]
    keys = (f"triage_backend: {backend}", "triage_model: judge", f"{wire}: {url}", f"allow_remote_triage: {remote}")
    lines = "".join(f"- {key}\n" for key in keys)
    (root / "dreaming.md").write_text(f"---\naria-dream: policy\n---\n{lines}", encoding="utf-8")


def own_addresses() -> list[str]:
    """Addresses of this machine that are no loopback ones: at most one, none on a machine without a network."""
    found = [
        each.address
        for interfaces in psutil.net_if_addrs().values()
        for each in interfaces
        if each.family is socket.AF_INET and not each.address.startswith("127.")
    ]
    return found[:1]


@contextmanager
def elsewhere(where: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModel]:
    """A judge on `where`: an address of this machine, or `proxy` for one that only a proxy on loopback reaches."""
    for name in ("no_proxy", "NO_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving(address="127.0.0.1" if where == "proxy" else where) as model:
        model.say = lambda _request: KEEP
        if where == "proxy":
            monkeypatch.setenv("http_proxy", model.url)
            model.url = NOWHERE
        yield model


def dream(root: Path) -> dict[str, Any]:
    """A dream in a process of its own: the guard of the tests, which permits loopback alone, is not in it."""
    words = ("--start", "Compost", "--seed", "4", "--dry-run", "--json")
    done = subprocess.run(
        [sys.executable, "-m", "aria_dream", "dream", str(root), *words],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return {**found, "stderr": done.stderr}


def rows() -> list[dict[str, Any]]:
    log = find_places().state / EGRESS
    return [json.loads(line) for line in log.read_text("utf-8").splitlines()] if log.exists() else []


@pytest.mark.parametrize("backend", ["ollama", "openai"])
@pytest.mark.parametrize("where", [*own_addresses(), "proxy"])
def test_a_judge_elsewhere_is_asked_with_both_permissions_and_with_neither_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, backend: str
) -> None:
    root = make_vault(tmp_path / "vault")
    for path in (root / name for name in PRIVATE):
        path.write_text(f"#private CANARY {path.read_text('utf-8')}", encoding="utf-8")
    with (root / "Compost.md").open("a", encoding="utf-8") as note:
        note.write("Receipts in a shoebox are no compost, and neither is a tax return.\n")
    with elsewhere(where, monkeypatch) as model:
        policy(root, model.url, backend=backend, remote="off")
        run("consent", "--give", "--yes")
        refused = dream(root)
        assert "allow_remote_triage: on" in json.dumps(refused)
        policy(root, model.url, backend=backend, remote="on")
        run("consent", "--withdraw")
        unconfirmed = dream(root)
        assert "aria-dream consent --give" in json.dumps(unconfirmed)
        assert (model.requests, model.paths, rows()) == ([], [], [])
        run("consent", "--give", "--yes")
        judged = dream(root)
        asked = len(model.requests)
        assert asked > 0
        assert judged["judge"].startswith("judge")
        run("consent", "--withdraw")
        (root / "New.md").write_text("A note that no verdict is kept for.\n", encoding="utf-8")
        assert "aria-dream consent --give" in json.dumps(dream(root))
    assert len(model.requests) == len(rows()) == asked
    assert {row["destination"] for row in rows()} == {model.url if where != "proxy" else f"{NOWHERE}:80"}
    assert {row["purpose"] for row in rows()} == {"triage"}
    told = json.dumps(model.requests, ensure_ascii=False)
    assert "CANARY" not in told
    assert not [name for name in ("receipts", "tax return") if name in told.lower()]
