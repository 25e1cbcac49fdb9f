"""How a link to a file is written, so that it means that file and no other: the vault's own style, enough path."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aria_dream.vault.obsidian import AppSettings
    from aria_dream.vault.resolve import Resolver


def link_target(resolver: Resolver, app: AppSettings, target: str, source: str) -> str:
    """What stands between the brackets of a link in `source` to the file `target`, without `.md`; `""` where no text
    means that file.

    Follows `newLinkFormat`: `shortest` is the bare name where only one file has it, else the vault path. A form that
    would mean another file gives way to the next longer one, the path from the root among them. The result has been
    resolved.
    """
    forms = _forms(resolver, app, target, source)
    return next((text for text in forms if resolver.resolve(text, source) == target), "")


def _forms(resolver: Resolver, app: AppSettings, target: str, source: str) -> Iterator[str]:
    whole = _without_ending(target)
    name = whole.rpartition("/")[2]
    relative = posixpath.relpath(whole, posixpath.dirname(source) or ".")
    if app.new_link_format == "relative":
        yield relative
    elif app.new_link_format == "shortest" and not resolver.is_ambiguous(name, source):
        yield name
    yield whole
    yield f"/{whole}"
    yield relative if relative.startswith("../") else f"./{relative}"
    yield target
    yield f"/{target}"


def _without_ending(path: str) -> str:
    return path[:-3] if path.lower().endswith(".md") else path
