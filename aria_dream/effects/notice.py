"""A notice on the desktop, by the program that the system has for it. It never holds a title or a word of a note.

Linux: `notify-send`. macOS: `osascript`. Windows has no program for it that needs no shell, so nothing is shown there;
`aria-dream status` and the notes tell the same.
"""

from __future__ import annotations

import logging
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

log = logging.getLogger(__name__)

TITLE = "aria-dream"
WAIT_S = 10.0
_SCRIPT = ("on run argv", "display notification (item 1 of argv) with title (item 2 of argv)", "end run")


def notice_command(sentence: str, platform: str = sys.platform) -> tuple[str, ...]:
    """The command that shows `sentence`; `()` where the system has none. What is shown is an argument, no script."""
    if platform == "darwin":
        script = tuple(word for line in _SCRIPT for word in ("-e", line))
        return ("osascript", *script, sentence, TITLE)
    if platform.startswith("win"):
        return ()
    return ("notify-send", f"--app-name={TITLE}", "--", TITLE, sentence)


def run_command(command: Sequence[str]) -> None:
    """Runs it, for some seconds at most. Raises OSError or subprocess.SubprocessError where it does not work."""
    subprocess.run(  # noqa: S603 - our own command
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
        timeout=WAIT_S,
    )  # fmt: skip


def give_notice(
    sentence: str, *, run: Callable[[Sequence[str]], None] = run_command, platform: str = sys.platform
) -> bool:
    """Whether the notice was shown. One that cannot be is logged, and nothing else comes of it."""
    command = notice_command(sentence, platform)
    if not command:
        log.info("this system has no program for notices")
        return False
    try:
        run(command)
    except (OSError, subprocess.SubprocessError) as error:
        log.info("no notice was shown: %s", type(error).__name__)
        return False
    return True
