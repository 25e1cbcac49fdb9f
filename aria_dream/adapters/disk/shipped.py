"""Where the files that come with the program lie: inside the installed package, or at the root of a checkout."""

from __future__ import annotations

from pathlib import Path

from aria_dream.errors import MissingPartError

_PACKAGE = Path(__file__).resolve().parents[2]


def shipped_path(*parts: str) -> Path:
    """A shipped file or folder: `dreaming.md`, `triggers.md`, `prompts`, `vault_template`, `examples/vault`.

    Looked for in `aria_dream/shipped` (a wheel), then beside the package (an editable install, a checkout).

    Raises:
        MissingPartError: it is in neither.
    """
    for folder in (_PACKAGE / "shipped", _PACKAGE.parent):
        path = folder.joinpath(*parts)
        if path.exists():
            return path
    raise MissingPartError(f"the file “{'/'.join(parts)}” is missing from this installation; install aria-dream again")


def read_shipped(*parts: str) -> str:
    """The text of a shipped file, with `\\n` line ends."""
    return shipped_path(*parts).read_text(encoding="utf-8").replace("\r\n", "\n")
