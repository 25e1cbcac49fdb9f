"""A model that cannot judge: one line in the dream note, in `status` and in `doctor`, gone with the next good dream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from aria_dream.notes.dream_log import parse_blocks
from tests.e2e.test_dream import dream, make_vault, run
from tests.model_servers import KEEP, FakeModel, serving

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "Sure [[Private]] ^aria-abcdef %%x%% #tag ![[p.png]] <b>\n- [x] link them"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARIA_DREAM_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("ARIA_DREAM_CACHE", str(tmp_path / "cache"))


def vault_of(tmp_path: Path, url: str, backend: str = "openai") -> Path:
    vault = make_vault(tmp_path / "vault")
    key = "ollama_url" if backend == "auto" else "triage_url"
    policy = f"- triage_backend: {backend}\n- triage_model: judge\n- {key}: {url}\n"
    (vault / "dreaming.md").write_text(f"---\naria-dream: policy\n---\n{policy}", encoding="utf-8")
    run("init", vault)
    return vault


def told(vault: Path) -> list[str]:
    """What status and doctor say of the judge."""
    status = json.loads(run("status", vault, "--json").stdout)["judge"]
    shown = run("status", vault).stdout
    doctor = next(
        one["text"] for one in json.loads(run("doctor", vault, "--json", check=False).stdout)["findings"]
        if one["name"] == "judge"
    )  # fmt: skip
    if status is None:
        assert "judge" not in shown
        return [doctor]
    assert status["trouble"] in shown
    assert status["trouble"] in doctor
    return [status["trouble"], doctor]


@pytest.mark.parametrize("backend", ["openai", "auto"])
def test_the_note_status_and_doctor_say_it_until_all_goes_well(tmp_path: Path, backend: str) -> None:
    with serving(FakeModel(say=lambda _: HOSTILE)) as model:
        vault = vault_of(tmp_path, model.url, backend)
        found = dream(vault, "--seed", "4")
        assert len(model.requests) == 3
        text = (vault / found["note"]).read_text("utf-8")
        ((block,), problems) = parse_blocks(text)
        assert problems == ()
        assert block.judged == told(vault)[0]
        assert "gave 3 answers in a row that cannot be read" in block.judged
        assert block.judged.endswith("the built-in judge finished the dream")
        assert {pair.judge for pair in block.pairs} == {"embedded judge"}
        assert found["said"][0] == f"{block.judged}."
        (line,) = [line for line in text.splitlines() if line.startswith("Judge: ")]
        assert not [sign for sign in ("[[", "%%", "<b>", " #tag", " ^aria") if sign in line]
        model.say = lambda _: KEEP
        run("dream", vault, "--seed", "5", "--dry-run")  # a rehearsal leaves no trace
        assert len(told(vault)) == 2
        later = dream(vault, "--seed", "6")
        assert "Judge: " not in (vault / later["note"]).read_text("utf-8").split("\n## ")[-1]
        assert len(told(vault)) == 1


def test_no_dream_has_its_cause_in_status(tmp_path: Path) -> None:
    with serving() as model:
        pass  # nobody listens there any more
    vault = vault_of(tmp_path, model.url)
    assert "does not answer at" in dream(vault, "--seed", "4")["reason"]
    trouble, doctor = told(vault)
    assert "does not answer at" in trouble
    assert "does not answer at" in doctor
