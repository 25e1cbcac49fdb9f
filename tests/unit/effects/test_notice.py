"""A notice is an argument of the system's own program, and its failing changes nothing."""

from __future__ import annotations

import logging
import subprocess
import sys
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from aria_dream.effects.notice import give_notice, notice_command, run_command

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SENTENCE = 'While you were away: 2 proposals to look at. " & do shell script'


def test_the_sentence_is_an_argument_and_no_script() -> None:
    linux, mac = notice_command(SENTENCE, "linux"), notice_command(SENTENCE, "darwin")
    assert linux[-1] == SENTENCE
    assert linux.index("--") < linux.index(SENTENCE)
    assert SENTENCE in mac
    scripts = [word for before, word in pairwise(mac) if before == "-e"]
    assert scripts
    assert all(SENTENCE not in script for script in scripts)
    assert notice_command(SENTENCE, "win32") == ()


@pytest.mark.parametrize(
    "error",
    [FileNotFoundError("notify-send"), subprocess.TimeoutExpired("x", 1), subprocess.CalledProcessError(1, "x")],
)
def test_a_notice_that_cannot_be_shown_is_logged(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "aria_dream")

    def run(_command: Sequence[str]) -> None:
        raise error

    assert not give_notice(SENTENCE, run=run, platform="linux")
    assert type(error).__name__ in caplog.text
    assert SENTENCE not in caplog.text
    assert not give_notice(SENTENCE, platform="win32")


def test_the_program_is_really_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform == "win32":
        pytest.skip("needs a shell script, not Windows")
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/told\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert give_notice(SENTENCE, run=run_command, platform="linux")
    assert (tmp_path / "told").read_text("utf-8").splitlines()[-1] == SENTENCE
