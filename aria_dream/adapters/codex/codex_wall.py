"""The wall around a reach: the words of a command line, the environment, and the folders that it has.

The policy gives the model and the effort, quoted, and nothing else here. Everything else stands in this module, on the
command line, where it outranks every configuration file. `--strict-config` makes a Codex CLI that does not know one of
these settings stop before it has sent anything. Facts of Codex CLI 0.171.0, each found by trying.

A reach has a CODEX_HOME of our own, with the login shared into it, and an empty scratch. The login is one file, the
user's own, and is never copied: a refresh makes the old one worthless, and whoever kept a copy would be logged out.
Codex CLI follows a symbolic link, exchanges the file it leads to for a new one, and locks it by a file beside that
(measured). A hard link it refuses to exchange, *after* it has used the login up: so there is never one, and where the
system grants no symbolic links there is no reach. Should another version put a new file in place of our link, that file
is moved to where the link led, before the next reach at the latest. Not promised: that a login survives which two
versions refresh at the same moment without knowing each other's locks; the newer one stays.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import sys
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aria_dream.adapters.codex.codex import is_inside
from aria_dream.adapters.disk.swap import sync_file, sync_folder
from aria_dream.errors import WriteRefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from aria_dream.policy.settings import Settings

PROVIDER = "aria_dream"

_FLAGS = (
    "exec", "--json", "--skip-git-repo-check", "--ephemeral", "--strict-config", "--ignore-user-config",
    "--ignore-rules", "--sandbox=read-only",
)  # fmt: skip

_OFF = (
    "shell_tool", "unified_exec",  # no command is ever run
    "shell_snapshot",  # else the user's shell profile runs, outside the sandbox
    "view_image",  # the one tool left that would read a file of this machine
    "plugins", "apps", "hooks", "skill_mcp_dependency_install", "skill_search", "tool_suggest",  # nothing is loaded
    "browser_use", "computer_use", "in_app_browser", "image_generation",
    "goals", "memories", "multi_agent",
    "unbounded_connection_retries",  # else a server that cannot be reached is tried for ever
    "enable_request_compression",  # what leaves can be read on its way by whoever owns the machine
)  # fmt: skip

_SETTINGS = (
    "web_search='live'",
    "approval_policy='never'",
    "project_doc_max_bytes=0",
    "project_root_markers=[]",  # folders above the scratch are not looked into
    "include_environment_context=false",  # no path, user name or time zone of this machine is told
    "skills.include_instructions=false",
    "skills.bundled.enabled=false",
    "agents.enabled=false",
    "analytics.enabled=false",
    "cli_auth_credentials_store='file'",
    "history.persistence='none'",
)

ACCOUNT = {"name": "OpenAI", "wire_api": "responses", "requires_openai_auth": True, "supports_websockets": False}
"""The account's provider, as the built-in one is. That one cannot be told to leave its retries (measured: 11
connections for one turn), each of which is metered; one of our own can."""
_ONCE = {"request_max_retries": 0, "stream_max_retries": 0}

_KEPT = (
    "LANG", "LC_ALL", "LC_CTYPE",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "CODEX_CA_CERTIFICATE",
    "HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "all_proxy", "no_proxy",
)  # fmt: skip
"""What a program needs to reach the network from here, and no more."""
_KEPT_WINDOWS = ("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "NUMBER_OF_PROCESSORS",
                 "PROCESSOR_ARCHITECTURE")  # fmt: skip

LOG = "off,codex_otel.trace_safe=info"
"""Codex tells on stderr when it sent a request and called a tool, without any text of either; see `RequestCount`."""


def wall_arguments(
    settings: Settings, scratch: Path, *, server: str, elsewhere: Mapping[str, object] | None = None
) -> list[str]:
    """The words after the program's name; the prompt comes on stdin.

    `server`: the relay's address, the only one that is asked. `elsewhere` are fields of another provider than the
    account's, for tests; its retries are off as well.
    """
    provider = {**(elsewhere or ACCOUNT), **_ONCE, "base_url": server}
    values = [
        *_SETTINGS,
        *(f"features.{name}=false" for name in _OFF),
        f"model={toml_string(settings.reach_model)}",
        f"model_reasoning_effort={toml_string(settings.reach_effort)}",
        f"model_provider={toml_string(PROVIDER)}",
        f"model_providers.{PROVIDER}={_table(provider)}",
    ]
    words = [word for value in values for word in ("-c", value)]
    return [*_FLAGS, f"--cd={scratch}", *words, "-"]


def wall_environment(
    environ: Mapping[str, str], *, codex_home: Path, home: Path, temporary: Path, vault: Path
) -> dict[str, str]:
    """All that the program learns of the environment: a fixed list of names from `environ`, and folders of its own."""
    kept = _KEPT + (_KEPT_WINDOWS if sys.platform == "win32" else ())
    found = {name: value for name in kept if (value := environ.get(name))}
    direct = ",".join(part for part in (found.get("NO_PROXY") or found.get("no_proxy"), "127.0.0.1") if part)
    forbidden = Path(os.path.realpath(vault))
    parts = environ.get("PATH", "").split(os.pathsep)
    path = [part for part in parts if part and Path(part).is_absolute() and not is_inside(Path(part), forbidden)]
    owned = {
        "PATH": os.pathsep.join(path) or os.defpath,
        "CODEX_HOME": str(codex_home),
        "HOME": str(home),
        **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary)),
        "RUST_LOG": LOG,
        **dict.fromkeys(("NO_PROXY", "no_proxy"), direct),  # no proxy stands before the relay
        "NO_COLOR": "1",
    }
    if sys.platform == "win32":
        owned |= {"USERPROFILE": str(home), "APPDATA": str(home), "LOCALAPPDATA": str(home)}
    return found | owned


def toml_string(text: str) -> str:
    """`text` as TOML quotes it; whatever it holds, it stays one string."""
    quoted = json.dumps(text.encode("utf-8", "replace").decode("utf-8"), ensure_ascii=False)
    return re.sub(r"[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _table(fields: Mapping[str, object]) -> str:
    said = (f"{name}={toml_string(value) if isinstance(value, str) else json.dumps(value)}"
            for name, value in fields.items())  # fmt: skip
    return "{" + ", ".join(said) + "}"


FOLDER = "codex"
"""In the account's state folder: the CODEX_HOME."""
LOCK = "codex.lock"
AUTH = "auth.json"
_OWN_FILES = frozenset({AUTH, "installation_id"})
_MARKS = (".git", ".hg", ".jj", ".obsidian", ".codex", "AGENTS.md", "AGENTS.override.md", "CLAUDE.md")
"""What makes a folder a project's or a vault's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Where one reach runs. All but `codex_home` is gone afterwards."""

    codex_home: Path
    scratch: Path
    """Its working folder: empty, and in no project."""
    home: Path
    """Its HOME: empty."""
    temporary: Path


@contextmanager
def prepare_room(state: Path, vault: Path, login: Path | None) -> Iterator[Room]:
    """The folders of one reach, inside the `with` block. Whoever calls it holds the lock `LOCK`.

    `login` is the file to share; None shares none, for tests against a server that asks for none.

    Raises:
        WriteRefusedError: a folder cannot be made, or the login cannot be shared.
    """
    try:
        codex_home = _own_home(state, login)
        base = Path(tempfile.mkdtemp(prefix="aria-dream-", dir=_outside(vault, state)))
    except OSError as error:
        raise WriteRefusedError(f"a reach has no place to run in: {error.strerror or error}") from error
    try:
        places = [base / name for name in ("scratch", "home", "tmp")]
        for place in places:
            place.mkdir(mode=0o700)
        yield Room(codex_home=codex_home, scratch=places[0], home=places[1], temporary=places[2])
    finally:
        shutil.rmtree(base, ignore_errors=True)
        with suppress(OSError):
            if login is not None:
                bring_back(codex_home / AUTH, login)
            _empty(codex_home)


def _own_home(state: Path, login: Path | None) -> Path:
    home = state / FOLDER
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if home.is_symlink():
        raise OSError(None, f"{home} leads elsewhere")
    home.chmod(0o700)
    if login is not None:
        bring_back(home / AUTH, login)
    _empty(home)
    link = home / AUTH
    link.unlink(missing_ok=True)
    if login is not None:
        _share(link, login)
    return home


def _share(link: Path, login: Path) -> None:
    """One file under two names, by a symbolic link; never a copy, never a hard link."""
    real = Path(os.path.realpath(login))
    if real.stat().st_nlink > 1:
        raise OSError(None, f"{real} is hard-linked, which Codex CLI cannot renew")
    try:
        link.symlink_to(real)
    except OSError as error:
        said = "the login of Codex CLI cannot be shared, since the system grants this account no symbolic links"
        hint = " (on Windows, Developer Mode grants them)" if sys.platform == "win32" else ""
        raise OSError(None, said + hint) from error


def bring_back(own: Path, login: Path) -> bool:
    """Whether a login that took the place of our link was moved to where the link led; the newer of the two stays."""
    if own.is_symlink() or not own.is_file():
        return False
    real = Path(os.path.realpath(login))
    with suppress(OSError):
        if real.samefile(own) or real.stat().st_mtime_ns > own.stat().st_mtime_ns:
            return False
    content = own.read_bytes()
    try:
        if not isinstance(json.loads(content), dict):
            return False
    except (ValueError, RecursionError):  # torn while it was written: the user's own is whole
        return False
    new = real.with_name(f".{real.name}.{secrets.token_hex(4)}")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            sync_file(file.fileno())
        new.replace(real)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    sync_folder(real.parent)
    own.unlink()
    return True


def _empty(home: Path) -> None:
    """Leaves the login and the installation's number: what a run wrote down of itself may hold its prompt."""
    for place in home.iterdir():
        if place.name in _OWN_FILES:
            continue
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place, ignore_errors=True)
        else:
            place.unlink(missing_ok=True)


def _outside(vault: Path, state: Path) -> Path:
    """A folder for scratch that lies in no vault and no project, on any disk."""
    forbidden = Path(os.path.realpath(vault))
    places = [Path(os.path.realpath(place)) for place in (tempfile.gettempdir(), state)]
    usable = [place for place in places if not is_inside(place, forbidden)]
    if not usable:
        raise OSError(None, "the folder for temporary files lies inside the vault; set TMPDIR to another place")
    return next((place for place in usable if not _is_project(place)), usable[0])


def _is_project(place: Path) -> bool:
    home = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111 - as the system has it
    above: Iterable[Path] = (place, *place.parents)
    return any((folder / mark).exists() for folder in above if folder != home for mark in _MARKS)
