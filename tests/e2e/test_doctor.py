"""`aria-dream doctor` as a process of its own, on a machine without any sensor and on vaults in every state."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.adapters.machine.presence import Sensors, read_moment
from aria_dream.cli.checks import Patient, check_judge
from tests.model_servers import FakeModel, serving

REPOSITORY = Path(__file__).resolve().parents[2]
LINUX = pytest.mark.skipif(sys.platform == "win32" or sys.platform == "darwin", reason="needs Linux")
SESSION = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")


def doctor(folder: Path, *args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Runs it in `folder`, with none of the tools and sockets that could know of a session."""
    env = {key: value for key, value in os.environ.items() if key not in SESSION}
    env |= {"PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "utf-8", "PATH": str(folder / "no tools"),
            "ARIA_DREAM_STATE": str(folder / "state"), "ARIA_DREAM_CACHE": str(folder / "cache"), **environ}
    return subprocess.run([sys.executable, "-m", "aria_dream", "doctor", *args], cwd=folder, env=env, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", timeout=240)


def report(folder: Path, *args: str, **environ: str) -> dict[str, Any]:
    done = doctor(folder, *args, "--json", **environ)
    assert not done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (0 if found["healthy"] else 1)
    return found


def healths(found: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["health"] for each in found["findings"]}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "garden"
    (folder / ".obsidian").mkdir(parents=True)
    (folder / "Compost.md").write_text("It must be turned.\n", encoding="utf-8")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@LINUX
def test_a_machine_without_a_sensor(tmp_path: Path, vault: Path) -> None:
    before = files(vault)
    done = doctor(tmp_path, str(vault))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    titles = [line for line in lines if line and not line.startswith(" ")]
    assert titles[:3] == ["This machine", "The vault", "The program"]
    assert "no sensor tells when you are there; the vault's own quiet and the quiet hours stand in" in done.stdout
    assert "Now: waiting: a note was edited " in done.stdout
    assert "dreams start after 15 minutes of quiet" in done.stdout
    assert lines[-1] == "Nothing is broken."
    assert files(vault) == before


def test_the_json_says_what_a_dream_waits_for(tmp_path: Path, vault: Path) -> None:
    found = report(tmp_path, str(vault))
    assert found["healthy"], found
    assert found["due"] is False
    assert "input" in [hold["what"] for hold in found["holds"]]
    assert found["reason"].startswith("waiting: ")
    assert found["readings"]["power"] in ("mains", "battery", "unknown")
    assert 0 <= found["readings"]["load_percent"] <= 100
    assert found["readings"]["last_edit_s"] >= 0
    assert healths(found)["model"] == "ok"
    assert healths(found)["judge"] in ("ok", "note")


def test_without_a_vault_it_looks_at_the_machine(tmp_path: Path) -> None:
    found = report(tmp_path)
    assert (found["vault"], found["due"]) == (None, None)
    assert healths(found)["vault"] == "note"


def test_a_policy_that_is_not_understood_is_broken(tmp_path: Path, vault: Path) -> None:
    text = "---\naria-dream: policy\n---\n\n- idle_threshold_s: soon\n"
    (vault / "dreaming.md").write_text(text, encoding="utf-8")
    found = report(tmp_path, str(vault))
    broken = [each for each in found["findings"] if each["health"] == "broken"]
    assert [each["name"] for each in broken] == ["policy"]
    assert "dreaming.md:5" in broken[0]["text"]


def test_a_vault_that_is_switched_off_says_only_that(tmp_path: Path, vault: Path) -> None:
    text = "---\naria-dream: policy\n---\n\n- dreaming: off\n"
    (vault / "dreaming.md").write_text(text, encoding="utf-8")
    found = report(tmp_path, str(vault))
    assert found["healthy"]
    assert found["reason"] == "waiting: `dreaming` is off (dreaming.md:5)"
    assert found["until"] is None


def test_a_state_folder_that_is_a_file_is_broken(tmp_path: Path, vault: Path) -> None:
    place = tmp_path / "file"
    place.write_text("", encoding="utf-8")
    found = report(tmp_path, str(vault), ARIA_DREAM_CACHE=str(place))
    assert healths(found)["cache folder"] == "broken"


def test_a_vault_that_is_not_there(tmp_path: Path) -> None:
    done = doctor(tmp_path, str(tmp_path / "nowhere"))
    assert done.returncode == 3
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


def judge(folder: Path, vault: Path, *lines: str) -> tuple[str, str]:
    """Health and text of what it says of the judge under a policy with these lines."""
    policy = "".join(f"- {line}\n" for line in lines)
    (vault / "dreaming.md").write_text(f"---\naria-dream: policy\n---\n{policy}", encoding="utf-8")
    places = Places(state=folder / "state", cache=folder / "cache")
    sensors, (moment, _) = Sensors(), read_moment("local")
    patient = Patient(
        places=places, sensors=sensors, readings=sensors.read(None), moment=moment, live=read_live_policy(vault, places)
    )
    (finding,) = check_judge(patient)
    return finding.health.value, finding.text


def test_it_says_who_would_judge(tmp_path: Path, vault: Path) -> None:
    with serving(FakeModel()) as model:
        here = ("triage_model: judge", f"ollama_url: {model.url}", f"triage_url: {model.url}/v1")
        assert judge(tmp_path, vault, *here) == ("ok", f"“judge” at {model.url}")
        assert judge(tmp_path, vault, *here, "triage_backend: openai") == ("ok", f"“judge:latest” at {model.url}")
        model.models = []
        lacking = "Ollama runs but has no model “judge”; `ollama pull judge` gets it"
        assert judge(tmp_path, vault, *here) == ("note", f"the built-in judge; {lacking}")
        assert judge(tmp_path, vault, *here, "triage_backend: ollama") == (
            "broken", f"`triage_backend: ollama`: {lacking}",
        )  # fmt: skip
        assert model.requests == []
    silent = f"the built-in judge; Ollama does not answer at {model.url}"
    assert judge(tmp_path, vault, *here) == ("ok", silent)
    assert judge(tmp_path, vault, "triage_backend: embedded") == ("ok", "the built-in judge")
    assert judge(tmp_path, vault, "triage_backend: off")[0] == "note"
    health, text = judge(tmp_path, vault, "triage_backend: openai", "triage_url: http://203.0.113.9:1")
    assert (health, "another machine" in text) == ("broken", True)
