"""What a broken machine does to a command: one sentence and an exit code, whatever broke."""

from __future__ import annotations

import errno
import os

import click
import pytest
from click.testing import CliRunner

from aria_dream.cli import LazyGroup


@pytest.mark.parametrize(
    ("error", "said", "code"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "runs.jsonl"), "runs.jsonl: no space left on device", 6),
        (OSError(errno.EIO, os.strerror(errno.EIO)), "input/output error", 1),
        (PermissionError(), "PermissionError".lower(), 1),
        (TimeoutError("the drive is asleep"), "the drive is asleep", 1),
    ],
)
def test_an_error_of_the_machine_is_one_sentence(error: OSError, said: str, code: int) -> None:
    @click.command("broken")
    def broken() -> None:
        raise error

    done = CliRunner().invoke(LazyGroup("aria-dream", commands={"broken": broken}), ["broken"])
    assert done.exit_code == code
    assert done.stderr.lower() == f"error: {said}\n".lower()
    assert isinstance(done.exception, SystemExit)
