"""How a link to a file is written, so that it means that file and no other: target, brackets, what it shows."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from aria_dream.markdown.link import split_destination, split_linktext

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


_ENCODED: Final = re.compile(r"[\x00-\x20\x7f\"#%()<>\\^`|\[\]\u00a0\u2028\u2029]")
_NOT_IN_WIKILINK: Final = re.compile(r"[\[\]|#^\r\n]|%%")


def encode_destination(path: str) -> str:
    """`path` as the destination of a Markdown link: percent-encoded where it would end the link or mean something."""
    return _ENCODED.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), path)


def render_link(  # one argument for each thing that decides how the link reads
    resolver: Resolver, app: AppSettings, target: str, source: str, shown: str
) -> str:
    """The link, in the note `source`, to the file `target` that reads `shown`; `""` where no text means that file.

    As the vault asks (`newLinkFormat`, `useMarkdownLinks`); a name that one kind of link cannot hold (`#` in
    `[[…]]`) gets the other. The target has been resolved.
    """
    text = link_target(resolver, app, target, source)
    if not text:
        return ""
    forms = (_markdown_link, _wikilink) if app.use_markdown_links else (_wikilink, _markdown_link)
    return next((link for form in forms if (link := form(resolver, text, target, source, shown))), "")


def _wikilink(resolver: Resolver, text: str, target: str, source: str, shown: str) -> str:
    if _NOT_IN_WIKILINK.search(text) or re.search(r"[\[\]\r\n]", shown) or shown.endswith("\\"):
        return ""
    if resolver.resolve(split_linktext(text)[0], source) != target:
        return ""
    return f"[[{text}]]" if text == shown else f"[[{text}|{shown}]]"


def _markdown_link(resolver: Resolver, text: str, target: str, source: str, shown: str) -> str:
    ending = target[-3:] if target.lower().endswith(".md") and not text.lower().endswith(".md") else ""
    destination = encode_destination(text + ending)
    read = split_destination(destination)
    if read is None or read[1] or resolver.resolve(read[0], source) != target:
        return ""
    label = re.sub(r"([\\\[\]])", r"\\\1", shown)
    return f"[{label}]({destination})"
