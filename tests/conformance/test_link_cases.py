"""Every case of `link-cases.json`: how Obsidian reads and resolves links, tags and aliases."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from aria_dream.markdown.note import decode_note, parse_note, subpath_found
from aria_dream.markdown.scan import scan_note
from aria_dream.vault.canvas import parse_canvas
from aria_dream.vault.resolve import Resolver
from tests.conftest import CONFORMANCE_DATA

if TYPE_CHECKING:

    from aria_dream.markdown.link import Link


def _case_ids() -> list[str]:
    file = CONFORMANCE_DATA / "link-cases.json"
    return [case["id"] for case in json.loads(file.read_text(encoding="utf-8"))["cases"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    links: tuple[Link, ...]
    tags: tuple[str, ...]
    aliases: tuple[str, ...]


@pytest.fixture(scope="module")
def cases() -> dict[str, dict[str, Any]]:
    content = json.loads((CONFORMANCE_DATA / "link-cases.json").read_text(encoding="utf-8"))
    return {case["id"]: case for case in content["cases"]}


def _files(case: dict[str, Any]) -> dict[str, bytes]:
    files = {path: text.encode() for path, text in case["files"].items()}
    return files | {path: base64.b64decode(text) for path, text in case.get("files_b64", {}).items()}


def _read(path: str, data: bytes) -> _Read:
    text = decode_note(data)
    if path.endswith(".canvas"):
        return _Read(links=parse_canvas(text)[0], tags=(), aliases=())
    note = parse_note(text)
    for link in note.links:
        assert note.text[link.start : link.end] == link.raw
    assert note.text.encode("utf-8", "surrogateescape") == data
    return _Read(links=note.links, tags=note.tags, aliases=note.aliases)


@pytest.mark.parametrize("case_id", _case_ids())
def test_case(cases: dict[str, dict[str, Any]], case_id: str) -> None:
    case = cases[case_id]
    files = _files(case)
    source = case["note"]
    read = _read(source, files[source])
    resolver = Resolver(files)
    ignored = case.get("ignore_raw", [])
    loose_embed = "embed flag" in case.get("compare", "")

    got = [
        {
            "raw": link.raw,
            "target_path": resolver.resolve(link.path, source),
            "display": link.display,
            "subpath": link.subpath,
            "embed": link.embed,
            "in_frontmatter": link.in_frontmatter,
        }
        for link in read.links
        if link.raw not in ignored
    ]
    wanted = [dict(link) for link in case["expect"]["links"]]
    found_wanted = [link.pop("subpath_found", None) for link in wanted]
    for link in wanted:
        link.pop("rendered", None)
    if loose_embed:
        for link in got + wanted:
            del link["embed"]
    if case["expect"].get("order") == "any" or case.get("order") == "any":
        got.sort(key=str)
        wanted.sort(key=str)
    assert got == wanted
    assert [tag.lower() for tag in read.tags] == [tag.lower() for tag in case["expect"]["tags"]]
    assert list(read.aliases) == case["expect"]["aliases"]

    for link, expected in zip(got, found_wanted, strict=True):
        target = link["target_path"]
        if expected is not None and target is not None:
            assert subpath_found(parse_note(decode_note(files[str(target)])), str(link["subpath"])) is expected


@pytest.mark.parametrize("case_id", _case_ids())
def test_scan_agrees(cases: dict[str, dict[str, Any]], case_id: str) -> None:
    """The index's fast reading gives the same links, tags and aliases."""
    for path, data in _files(cases[case_id]).items():
        if path.endswith(".md"):
            note, scan = parse_note(decode_note(data)), scan_note(decode_note(data))
            links = [(link.path, link.subpath, link.embed, link.in_frontmatter, link.markdown) for link in note.links]
            assert links == [link[:5] for link in scan.links]
            assert (note.tags, note.aliases, note.problems) == (scan.tags, scan.aliases, scan.problems)


def test_dot_files_are_no_notes(cases: dict[str, dict[str, Any]]) -> None:
    for case in cases.values():
        if "indexed_notes" in case:
            resolver = Resolver(case["files"])
            reachable = [path for path in case["files"] if resolver.resolve("/" + path, "src.md") == path]
            assert reachable == case["indexed_notes"]
