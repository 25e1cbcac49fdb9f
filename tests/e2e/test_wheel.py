"""A built wheel, installed into an empty environment, can show itself, move in and dream."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD_INPUTS = (
    "aria_dream", "pyproject.toml", "README.md", "LICENSE", "dreaming.md", "triggers.md", "prompts", "vault_template",
    "examples",
)  # fmt: skip


def call(*words: str | Path, cwd: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the working tree without touching it."""
    out = tmp_path_factory.mktemp("wheel")
    call(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out, cwd=REPOSITORY)
    (built,) = out.glob("*.whl")
    return built


def test_what_is_shipped_is_in_the_wheel(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("prompts", "vault_template", "examples/vault"):
        for path in (REPOSITORY / folder).rglob("*"):
            if path.is_file():
                assert f"aria_dream/shipped/{path.relative_to(REPOSITORY).as_posix()}" in names
    measured = ("examples/triage-corpus.jsonl", "examples/reach-corpus.jsonl", "examples/reach-answers.jsonl")
    for name in ("dreaming.md", "triggers.md", *measured):
        assert f"aria_dream/shipped/{name}" in names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/"))]


@pytest.mark.slow
def test_an_empty_environment_can_demo_init_and_dream(wheel: Path, tmp_path: Path) -> None:
    # The package's own needs come from the registry, as they do for a writer; nothing else is reached.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    call(sys.executable, "-m", "venv", tmp_path / "empty", cwd=tmp_path)
    scripts = tmp_path / "empty" / ("Scripts" if sys.platform == "win32" else "bin")
    call(scripts / "python", "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path, environment=environment)
    where = call(scripts / "python", "-c", "import aria_dream; print(aria_dream.__file__)", cwd=tmp_path)
    assert str(tmp_path / "empty") in where
    command = scripts / "aria-dream"
    shown = call(command, "demo", cwd=tmp_path, environment=environment)
    assert "idle dream" in shown
    assert "^aria-" in shown
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "One.md").write_text("The tide stands still for a while, and boats swing on their anchors.\n", "utf-8")
    (vault / "Two.md").write_text("Before sleep the mind stands still like a tide, and images swing.\n", "utf-8")
    call(command, "init", vault, cwd=tmp_path, environment=environment)
    assert (vault / "dreaming.md").is_file()
    call(command, "dream", vault, "--seed", "1", cwd=tmp_path, environment=environment)
