"""Where Codex CLI is on this machine, which version, and whether somebody is logged in. Nothing here sends anything.

What npm puts on the PATH is a script for node; ending it can leave the program it started behind. So the native program
is looked for: in Codex CLI 0.171.0 it lies in the platform's own package beside the script's.
"""

from __future__ import annotations

import json
import os
import platform as _platform
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TESTED_VERSION = "0.171.0"
"""What the wall was tested with. Another version that does not know a part of the wall refuses to start."""

_VERSION_TIMEOUT_S = 20.0
_NATIVE = (b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf")
_PACKAGE = ("@openai", "codex")
_SCRIPT = re.compile(
    r"((?:\$basedir|%~dp0|%dp0%|[A-Za-z]:|/)?[^\s\"'$%]*@openai[\\/]codex)[\\/]bin[\\/]codex\.js", re.IGNORECASE
)
"""The package's folder in the little scripts that npm on Windows, pnpm and others put on the PATH."""
_NODES = (
    ".nvm/versions/node/*/bin", ".asdf/installs/nodejs/*/bin", ".local/share/mise/installs/node/*/bin",
    ".local/share/fnm/node-versions/*/installation/bin", ".local/share/pnpm/global/*/node_modules/.bin",
)  # fmt: skip
"""Where those who manage several versions of node put what npm installs, below the home; the newest first."""
_TRIPLES = {
    ("linux", "x64"): "x86_64-unknown-linux-musl",
    ("linux", "arm64"): "aarch64-unknown-linux-musl",
    ("darwin", "x64"): "x86_64-apple-darwin",
    ("darwin", "arm64"): "aarch64-apple-darwin",
    ("win32", "x64"): "x86_64-pc-windows-msvc",
    ("win32", "arm64"): "aarch64-pc-windows-msvc",
}
_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


@dataclass(frozen=True, slots=True)
class Missing:
    """There is none that may be used."""

    reason: str
    """One clause for the writer, with what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """What a machine is called in the names of the packages."""

    system: str = sys.platform
    machine: str = _platform.machine()

    @property
    def program(self) -> str:
        """The program's file name."""
        return "codex.exe" if self.system == "win32" else "codex"

    @property
    def key(self) -> tuple[str, str]:
        """`("linux", "x64")`."""
        return self.system, _MACHINES.get(self.machine.lower(), self.machine.lower())


def find_codex(vault: Path, environ: Mapping[str, str] = os.environ, here: Platform | None = None) -> Path | Missing:
    """The absolute path of the program, never one that lies inside `vault`. Starts nothing.

    The first `codex` on the PATH decides; after it the places where installers put it, since a service has a short
    PATH. A script is followed to the native program behind it where that is found, else taken as it is.
    """
    here = here or Platform()
    forbidden = Path(os.path.realpath(vault))
    names = ("codex.exe", "codex.cmd", "codex.bat") if here.system == "win32" else ("codex",)
    inside = False
    for folder in _folders(environ, here):
        for name in names:
            place = folder / name
            if not os.access(place, os.X_OK) or not place.is_file():
                continue
            found = native_of(place, here)
            if is_inside(place, forbidden) or is_inside(found, forbidden):
                inside = True
                continue
            if found.suffix.lower() not in (".cmd", ".bat"):  # those would be run by a shell
                return found
    if inside:
        return Missing("the only Codex CLI here lies inside the vault, where it is never run from")
    return Missing("Codex CLI is not installed; `npm install -g @openai/codex` installs it, `codex login` logs in")


def is_inside(path: Path, folder: Path) -> bool:
    """Whether `path`, or what it leads to, lies in `folder`, which is a real path."""
    return any(one.is_relative_to(folder) for one in (Path(os.path.abspath(path)), Path(os.path.realpath(path))))  # noqa: PTH100 - abspath does not follow links


def _folders(environ: Mapping[str, str], here: Platform) -> Iterator[Path]:
    separator = ";" if here.system == "win32" else ":"
    for part in environ.get("PATH", "").split(separator):
        if part and Path(part).is_absolute():  # a relative one would mean the working folder
            yield Path(part)
    home = environ.get("USERPROFILE" if here.system == "win32" else "HOME", "")
    if here.system == "win32":
        if (data := environ.get("APPDATA", "")) and Path(data).is_absolute():
            yield Path(data) / "npm"
        if (local := environ.get("LOCALAPPDATA", "")) and Path(local).is_absolute():
            yield Path(local) / "Programs" / "OpenAI" / "Codex" / "bin"
        return
    if home and Path(home).is_absolute():
        for part in (".local/bin", ".npm-global/bin", ".bun/bin", ".local/share/pnpm", "Library/pnpm"):
            yield Path(home) / part
        for pattern in _NODES:
            yield from sorted(Path(home).glob(pattern), reverse=True)
    yield from map(Path, ("/usr/local/bin", "/opt/homebrew/bin", "/usr/bin"))


def native_of(place: Path, here: Platform) -> Path:
    """The native program behind `place`; the file itself, links followed, where it is native or nothing better is."""
    real = Path(os.path.realpath(place))
    try:
        with real.open("rb") as file:
            start = file.read(16_384)
    except OSError:
        return real
    if start.startswith(_NATIVE):
        return real
    for package in _packages(place, real, start.decode("utf-8", "replace")):
        for native in _vendored(package, here):
            if native.is_file() and os.access(native, os.X_OK):
                return Path(os.path.realpath(native))
    return real


def _packages(place: Path, real: Path, text: str) -> Iterator[Path]:
    """Folders that may be the package `@openai/codex`, to which a script on the PATH leads."""
    if real.name == "codex.js" and real.parent.parent.parts[-2:] == _PACKAGE:
        yield real.parent.parent
    for found in _SCRIPT.findall(text):
        named = re.sub(r"\A(?:\$basedir|%~dp0|%dp0%)[\\/]*", "", found).replace("\\", "/")
        package = place.parent / named
        yield package
        yield Path(os.path.realpath(package))
    yield place.parent.joinpath("node_modules", *_PACKAGE)
    yield place.parent.parent.joinpath("lib", "node_modules", *_PACKAGE)


def _vendored(package: Path, here: Platform) -> Iterator[Path]:
    """Where the native program of `package` may lie: as node would find the platform's package, or inside."""
    triple = _TRIPLES.get(here.key)
    if triple is None:
        return
    inner = Path("vendor") / triple
    roots = [parent / "node_modules" / "@openai" for parent in (package, *package.parents) if parent != Path("/")]
    for root in (package.parent, *roots):
        yield root / f"codex-{here.key[0]}-{here.key[1]}" / inner / "bin" / here.program
    yield package / inner / "bin" / here.program
    yield package / inner / "codex" / here.program  # as packages before the platform's own had it


def read_version(program: Path, environ: Mapping[str, str]) -> str:
    """What the program says its version is; `""` where it says nothing of the kind. `environ` is all that it gets."""
    try:
        done = subprocess.run(  # noqa: S603 - the program that was found
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_VERSION_TIMEOUT_S,
            check=False, env=dict(environ), cwd=program.anchor)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(r"\b\d+\.\d+\.\d+\S*", done.stdout.decode("utf-8", "replace"))
    return found[0] if found else ""


def find_login(environ: Mapping[str, str] = os.environ) -> Path | Missing:
    """The file that holds the login, in the user's own CODEX_HOME. It is read, never copied."""
    named = environ.get("CODEX_HOME", "")
    home = environ.get("USERPROFILE" if sys.platform == "win32" else "HOME", "") or os.path.expanduser("~")  # noqa: PTH111 - of the environment given
    file = (Path(named) if named else Path(home) / ".codex") / "auth.json"
    try:
        login = json.loads(file.read_bytes())
    except FileNotFoundError:
        return Missing(_NO_FILE if _keeps_no_file(file.parent) else _NOBODY)
    except (OSError, ValueError, RecursionError):
        return Missing(f"the login of Codex CLI cannot be read ({file}); run `codex login` again")
    if not isinstance(login, dict) or not any(login.get(key) for key in ("tokens", "OPENAI_API_KEY")):
        return Missing(_NOBODY)
    return file


def account_server(login: Path) -> str:
    """The address below which the account's requests lie, by the kind of its login, as Codex CLI 0.171.0 has it.

    Raises:
        OSError: the login cannot be read now.
    """
    try:
        found = json.loads(login.read_bytes())
    except (ValueError, RecursionError) as error:
        raise OSError(None, f"the login of Codex CLI cannot be read now ({login})") from error
    mode = found.get("auth_mode") or ("apikey" if found.get("OPENAI_API_KEY") else "chatgpt")
    return "https://api.openai.com/v1" if str(mode).lower() == "apikey" else "https://chatgpt.com/backend-api/codex"


_NOBODY = "nobody is logged in to Codex CLI; run `codex login`"
_NO_FILE = (
    "the login of Codex CLI lies in the system's keyring, from where it cannot be shared; write"
    ' `cli_auth_credentials_store = "file"` into its config.toml and run `codex login`'
)
_STORE = re.compile(r"^\s*cli_auth_credentials_store\s*=\s*[\"'](?!file)", re.MULTILINE)


def _keeps_no_file(codex_home: Path) -> bool:
    """Whether the user's Codex CLI is told to keep its login elsewhere than in a file."""
    try:
        return bool(_STORE.search((codex_home / "config.toml").read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return False
