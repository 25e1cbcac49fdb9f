"""Where files lie: the state and the cache of this account and of one vault, and the files of the program."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aria_dream.errors import MissingPartError

if TYPE_CHECKING:
    from collections.abc import Mapping

STATE_VARIABLE = "ARIA_DREAM_STATE"
CACHE_VARIABLE = "ARIA_DREAM_CACHE"
FOLDER_VARIABLES = (
    STATE_VARIABLE, CACHE_VARIABLE, "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "CODEX_HOME",
)  # fmt: skip
"""Every variable that says where we, or the program that a reach asks, keep something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The two folders outside every vault that aria-dream writes to. Neither needs to exist yet."""

    state: Path
    """Ledgers, journals, locks: what must not be lost."""
    cache: Path
    """What may be deleted at any time."""

    def vault_cache(self, root: Path) -> Path:
        """The folder of the cache of the vault at `root`."""
        return self.cache / vault_key(root)


def find_places(environ: Mapping[str, str] = os.environ) -> Places:
    """The user's folders as the platform names them, or as ARIA_DREAM_STATE and ARIA_DREAM_CACHE say. Makes nothing."""
    state, cache = environ.get(STATE_VARIABLE), environ.get(CACHE_VARIABLE)
    if not (state and cache):
        import platformdirs

        state = state or platformdirs.user_state_dir("aria-dream", appauthor=False)
        cache = cache or platformdirs.user_cache_dir("aria-dream", appauthor=False)
    return Places(state=Path(state).expanduser().absolute(), cache=Path(cache).expanduser().absolute())


def vault_key(root: Path) -> str:
    """Sixteen hex digits for the vault at `root`: the same for every spelling and link that leads to its real path.

    It names the cache only. A vault that is moved gets another key and is indexed anew.
    """
    real = os.path.normcase(os.path.realpath(root))
    return hashlib.sha256(real.encode("utf-8", "surrogatepass")).hexdigest()[:16]


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
