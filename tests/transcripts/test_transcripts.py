"""Runs the sessions in `tests/transcripts/*.md` with the real command, each in a folder of its own.

A session is a fenced block ```` ```console ````: a line `$ command` and the output that it must print (stdout and
stderr together). `[...]` alone on a line stands for any lines, within a line for any characters; times and dates are
compared as written by shape only, so that a session is true on any day. A line `$ ? 3` checks the exit code of the
command before it. The folder holds `garden`, a copy of the example vault.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent
REPOSITORY = FOLDER.parent.parent
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TIME = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?\b")
DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")


def steps(session: str) -> list[tuple[str, list[str]]]:
    """The commands of a session, each with the lines it must print."""
    found: list[tuple[str, list[str]]] = []
    for line in session.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def shape(text: str) -> str:
    return DATE.sub("DATE", TIME.sub("HH:MM", text))


def pattern(lines: list[str]) -> re.Pattern[str]:
    """What the output must match as a whole."""
    parts = []
    for line in lines:
        if line.strip() == "[...]":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(re.escape(shape(line)).replace(re.escape("[...]"), ".*") + r"[ \t]*\n")
    return re.compile("".join(parts) + r"\s*\Z")


def run_session(session: str, folder: Path) -> None:
    """Runs every step in `folder` and compares; the code that ended each command is checked where the session asks."""
    code = 0
    for command, lines in steps(session):
        if command.startswith("? "):
            assert code == int(command[2:]), f"exit code {code}, expected {command[2:]}"
            continue
        words = shlex.split(command)
        if words[0] == "aria-dream":
            words = [sys.executable, "-m", "aria_dream", *words[1:]]
        elif words[0] == "python":
            words[0] = sys.executable
        done = subprocess.run(
            words,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"},
            check=False,
            timeout=240,
        )
        code = done.returncode
        output = shape(done.stdout.decode("utf-8")).rstrip("\n") + "\n"
        assert pattern(lines).match(output), f"$ {command}\n{output}"


def sessions() -> list[tuple[str, str]]:
    return [
        (f"{path.stem}-{number}", match.group(1))
        for path in sorted(FOLDER.glob("*.md"))
        for number, match in enumerate(CONSOLE.finditer(path.read_text(encoding="utf-8")), 1)
    ]


@pytest.mark.parametrize(("name", "session"), sessions(), ids=[name for name, _ in sessions()])
def test_session(name: str, session: str, tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "examples" / "vault", tmp_path / "garden")
    run_session(session, tmp_path)
