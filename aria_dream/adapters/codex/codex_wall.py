"""The wall around a reach, as words of a command line and as an environment. Nothing of the policy makes it weaker.

The policy gives the model and the effort, quoted, and nothing else here. Everything else stands in this module, on the
command line, where it outranks every configuration file. `--strict-config` makes a Codex CLI that does not know one of
these settings stop before it has sent anything. Facts of Codex CLI 0.171.0, each found by trying.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from aria_dream.adapters.codex.codex import is_inside

if TYPE_CHECKING:
    from collections.abc import Mapping

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
