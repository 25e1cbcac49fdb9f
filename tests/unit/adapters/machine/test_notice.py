"""A notice is an argument or a variable of the system's own program, and its failing changes nothing."""

from __future__ import annotations

import logging
import subprocess
import sys
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.machine.notice import (
    LONGEST,
    SENTENCE_VARIABLE,
    TITLE,
    TITLE_VARIABLE,
    Notice,
    give_notice,
    notice_for,
    run_notice,
)

if TYPE_CHECKING:
    from pathlib import Path

SENTENCE = 'While you were away: 2 proposals to look at. " & do shell script'
HOSTILE = [
    "'; Start-Process calc; '", '"; calc "', "$(calc) `calc` $env:PATH %PATH%", "<toast launch='x'/>&amp;]]>",
    "-Command calc", "–EncodedCommand x", "a | b & c > d", "日本語 😀", "\u202egnihtemos",
]  # fmt: skip


def test_the_sentence_is_an_argument_and_no_script() -> None:
    linux, mac = notice_for(SENTENCE, "linux").command, notice_for(SENTENCE, "darwin").command
    assert linux[-1] == SENTENCE
    assert linux.index("--") < linux.index(SENTENCE)
    assert SENTENCE in mac
    scripts = [word for before, word in pairwise(mac) if before == "-e"]
    assert scripts
    assert all(SENTENCE not in script for script in scripts)


@pytest.mark.parametrize("sentence", [SENTENCE, *HOSTILE])
def test_on_windows_no_character_of_the_sentence_is_in_the_command_line(sentence: str) -> None:
    notice, other = notice_for(sentence, "win32", {}), notice_for("Two dreams.", "win32", {})
    assert notice.command == other.command
    assert notice.variables == {TITLE_VARIABLE: TITLE, SENTENCE_VARIABLE: sentence}


def test_the_command_line_on_windows_is_one_fixed_script_of_windows_own_powershell() -> None:
    program, *flags, script = notice_for(SENTENCE, "win32", {"SystemRoot": "D:\\WIN"}).command
    assert program == "D:\\WIN\\System32\\WindowsPowerShell\\v1.0\\powershell.exe"
    assert notice_for(SENTENCE, "win32", {}).command[0].startswith("C:\\Windows\\System32\\")
    assert flags == ["-NoLogo", "-NoProfile", "-NonInteractive", "-Command"]
    line = subprocess.list2cmdline([program, *flags, script])
    assert line == f'{program} {" ".join(flags)} "{script}"'  # quoted as a whole, and nothing in it has to be escaped
    assert '"' not in script
    assert script.isascii()
    assert len(line) < 8191
    for opening, closing in ("()", "[]", "{}"):
        assert script.count(opening) == script.count(closing)
    assert script.count("'") % 2 == 0
    assert script.count(f"CreateTextNode($env:{SENTENCE_VARIABLE})") == 1
    for word in ("Invoke-Expression", "iex ", "ExpandString", "LoadXml", "-f "):
        assert word not in script


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_what_no_argument_and_no_variable_can_hold_becomes_space(platform: str) -> None:
    notice = notice_for("two\x00\r\ndreams\x1b[31m " + "and more " * 100, platform, {})
    said = notice.variables.get(SENTENCE_VARIABLE) or next(part for part in notice.command if part.startswith("two"))
    assert said.startswith("two dreams [31m and more")
    assert len(said) == LONGEST
    assert not any(ord(character) < 32 for part in notice.command for character in part)


@pytest.mark.parametrize(
    "error",
    [FileNotFoundError("notify-send"), subprocess.TimeoutExpired("x", 1), subprocess.CalledProcessError(1, "x")],
)
@pytest.mark.parametrize("platform", ["linux", "win32"])
def test_a_notice_that_cannot_be_shown_is_logged(
    error: Exception, platform: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "aria_dream")

    def run(_notice: Notice) -> None:
        raise error

    assert not give_notice(SENTENCE, run=run, platform=platform)
    assert type(error).__name__ in caplog.text
    assert SENTENCE not in caplog.text


def test_the_program_is_really_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform == "win32":
        pytest.skip("needs a shell script, not Windows")
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/told\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert give_notice(SENTENCE, run=run_notice, platform="linux")
    assert (tmp_path / "told").read_text("utf-8").splitlines()[-1] == SENTENCE


def test_what_the_script_is_to_show_is_in_its_environment_and_nowhere_else(tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("needs a shell script, not Windows")
    program = tmp_path / "powershell"
    program.write_text(f'#!/bin/sh\nprintf "%s" "${SENTENCE_VARIABLE}" > {tmp_path}/told\n', encoding="utf-8")
    program.chmod(0o755)
    for sentence in HOSTILE:
        run_notice(Notice((str(program),), notice_for(sentence, "win32", {}).variables))
        assert (tmp_path / "told").read_text("utf-8") == sentence
