"""A notice on the desktop, by the program that the system has for it. It never holds a title or a word of a note.

Linux: `notify-send`. macOS: `osascript`. Windows: a toast by the PowerShell that belongs to Windows; that one has been
checked by tests of its command line and never been run on a Windows machine. The text is an argument or a variable of
the environment and never part of a script.
"""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

log = logging.getLogger(__name__)

TITLE = "aria-dream"
WAIT_S = 10.0
SENTENCE_VARIABLE, TITLE_VARIABLE = "ARIA_DREAM_NOTICE", "ARIA_DREAM_NOTICE_TITLE"
"""Where the script on Windows reads what it shows."""
LONGEST = 200
"""Characters; a toast shows three lines."""
_SCRIPT = ("on run argv", "display notification (item 1 of argv) with title (item 2 of argv)", "end run")
# Windows PowerShell 5.1, which every Windows since 10 has: PowerShell 7 knows no WinRT types. `CreateTextNode` takes
# text for text, so no character of it is markup. A toast needs the id of an application in the start menu;
# PowerShell's own is, and ours is not. One line without a double quote: Windows hands over one command line.
_KIND = "Windows.UI.Notifications"
_MANAGER = f"[{_KIND}.ToastNotificationManager]"
_TOAST = "; ".join((
    "$ErrorActionPreference = 'Stop'",
    f"$null = [{_KIND}.ToastNotificationManager, {_KIND}, ContentType = WindowsRuntime]",
    f"$null = [{_KIND}.ToastNotification, {_KIND}, ContentType = WindowsRuntime]",
    "$null = [Windows.Data.Xml.Dom.XmlDocument, Windows.Data.Xml.Dom.XmlDocument, ContentType = WindowsRuntime]",
    f"$xml = {_MANAGER}::GetTemplateContent([{_KIND}.ToastTemplateType]::ToastText02)",
    "$lines = $xml.GetElementsByTagName('text')",
    f"$null = $lines.Item(0).AppendChild($xml.CreateTextNode($env:{TITLE_VARIABLE}))",
    f"$null = $lines.Item(1).AppendChild($xml.CreateTextNode($env:{SENTENCE_VARIABLE}))",
    f"$toast = New-Object {_KIND}.ToastNotification $xml",
    "$id = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe'",
    f"{_MANAGER}::CreateToastNotifier($id).Show($toast)",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Notice:
    """How a notice is shown."""

    command: tuple[str, ...]
    """Program and arguments; no shell."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """What the environment holds beside the usual."""


def notice_for(sentence: str, platform: str = sys.platform, environ: Mapping[str, str] = os.environ) -> Notice:
    """How `sentence` is shown on that system. Control characters become spaces, and a long sentence is cut."""
    said = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", sentence).strip()
    said = said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…"
    if platform == "darwin":
        script = tuple(word for line in _SCRIPT for word in ("-e", line))
        return Notice(("osascript", *script, said, TITLE))
    if platform.startswith("win"):
        # By its place: a program of that name in the folder that we were started in must not be run for it.
        system = environ.get("SystemRoot") or "C:\\Windows"
        program = f"{system}\\System32\\WindowsPowerShell\\v1.0\\powershell.exe"
        flags = ("-NoLogo", "-NoProfile", "-NonInteractive", "-Command")
        return Notice((program, *flags, _TOAST), {TITLE_VARIABLE: TITLE, SENTENCE_VARIABLE: said})
    return Notice(("notify-send", f"--app-name={TITLE}", "--", TITLE, said))


def run_notice(notice: Notice) -> None:
    """Shows it, for some seconds at most. Raises OSError or subprocess.SubprocessError where it does not work."""
    subprocess.run(  # noqa: S603 - our own command
        notice.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
        timeout=WAIT_S, env={**os.environ, **notice.variables}, creationflags=_hidden(),
    )  # fmt: skip


def _hidden() -> int:
    if sys.platform == "win32":
        return subprocess.CREATE_NO_WINDOW
    return 0


def give_notice(
    sentence: str, *, run: Callable[[Notice], None] = run_notice, platform: str = sys.platform
) -> bool:
    """Whether the notice was shown. One that cannot be is logged, and nothing else comes of it."""
    try:
        run(notice_for(sentence, platform))
    except (OSError, subprocess.SubprocessError) as error:
        log.info("no notice was shown: %s", type(error).__name__)
        return False
    return True
