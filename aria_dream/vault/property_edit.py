"""Changes of one property that leave every other byte of the frontmatter as it is: comments, quotes, order, indents.

Nothing is dumped: the place is found, the new text is put there, and the result is read back. Where it does not say
what it should, or where the frontmatter cannot be read, there is no plan.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import yaml

from aria_dream.markdown.ending import has_unclosed_frontmatter
from aria_dream.markdown.properties import find_frontmatter, named, parse_properties, text_list
from aria_dream.markdown.yaml_text import render_text, render_value, yaml_refusal
from aria_dream.vault.edit import Edit, Refusal, line_end

if TYPE_CHECKING:
    from collections.abc import Sequence

UNREADABLE: Final = "the properties are not read"
_PLACEHOLDER: Final = re.compile(r"\{\{.*?\}\}")
_ITEM: Final = re.compile(r"^([ \t]*)-([ \t]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Place:
    """A property in its source; offsets in characters of the source."""

    key_start: int
    key_end: int
    value: yaml.Node
    start: int
    """Of the value; for an empty one, behind the colon."""
    end: int
    """Behind the value's last character that is not white space."""


def plan_property(text: str, key: str, value: object) -> Edit | Refusal:
    """The edit that gives the note `text` the property `key` with `value`: one line is changed or added, or, where
    there is no frontmatter, the three lines of one are put before everything (a BOM aside).

    `key` is compared without case and keeps its spelling. `value`: None, bool, number, text, date, list or map of such.
    Refused where the properties have a problem of any kind: what is half understood is left to its writer.
    """
    frontmatter = find_frontmatter(text)
    problems = parse_properties(text[frontmatter.start : frontmatter.end])[1] if frontmatter else ()
    if problems:
        return Refusal(f"its properties have to be mended first: {problems[0].message}")
    try:
        written = render_value(value)
    except TypeError as error:
        return Refusal(str(error))
    return _changed(text, key, value, written, written)


def plan_items(text: str, key: str, items: Sequence[object]) -> Edit | Refusal | None:
    """The edit that adds items to a property that is a list, in the list's own style; None where all are in it.

    A block list gets lines, a flow list gets items, a single text becomes a flow list (`tags` may be one text with
    commas and stay it). A property that is missing or empty becomes a list in the style of the note's other lists, a
    block list where there is none. Names (`tags`, `aliases`) and links are compared without case, other items as they
    are. `items`: texts, numbers, bools.
    """
    frontmatter = find_frontmatter(text)
    source = text[frontmatter.start : frontmatter.end] if frontmatter else ""
    properties, _ = parse_properties(source)
    known, _ = text_list(properties, key.lower(), source)
    if key.lower() == "tags":
        known = [name.strip().removeprefix("#") for said in known for name in said.split(",")]
    is_name = key.lower() in ("tags", "aliases")
    folded = {_compared(item, is_name=is_name) for item in known}
    new = [item for item in dict.fromkeys(items) if _compared(item, is_name=is_name) not in folded]
    if not new:
        return None
    old = named(properties, key.lower())
    if old is None:
        flow = any(line.rstrip().endswith("]") for line in source.splitlines()) or not frontmatter
        rendered = ", ".join(map(render_value, new))
        block = "".join(f"\n  - {render_value(item)}" for item in new)
        return _changed(text, key, new, f"[{rendered}]" if flow else block, f"[{rendered}]")
    assert frontmatter is not None  # a property stands in one
    place = _find(source, key)
    if place is None:
        return Refusal(f"the place of the property {key!r} cannot be told")
    edit = _item_edit(source, place, key, new)
    wanted = [*(old if isinstance(old, list) else [old]), *new]
    if key.lower() == "tags" and isinstance(old, str):
        wanted = []  # one text or a list: what counts is which tags are read
    moved = Edit(edit.start + frontmatter.start, edit.end + frontmatter.start, _ended(edit.new, text))
    return _read_back(text, moved, key, wanted or None)


def _compared(item: object, *, is_name: bool) -> str:
    said = str(item).strip()
    return said.lower() if is_name or said.startswith("[[") else said


def property_lines(text: str, key: str) -> str | None:
    """The lines of the note `text` that hold the property `key`, as they are, last line end excluded; None where they
    cannot be told."""
    frontmatter = find_frontmatter(text)
    source = text[frontmatter.start : frontmatter.end] if frontmatter else ""
    place = _find(source, key)
    if place is None or source.lstrip().startswith("{"):
        return None
    return source[source.rfind("\n", 0, place.key_start) + 1 : _line_stop(source, place.end)]


def plan_lines(text: str, key: str, value: object, lines: str) -> Edit | Refusal:
    """The edit that adds a property in the very lines another note has it in; `value` is what they must read as."""
    frontmatter = find_frontmatter(text)
    end = line_end(text)
    said = _ended(lines, text) + end
    if frontmatter is None:
        at = int(text.startswith("\ufeff"))
        return _read_back(text, Edit(at, at, f"---{end}{said}---{end}"), key, value)
    return _read_back(text, Edit(frontmatter.end, frontmatter.end, said), key, value)


def _item_edit(source: str, place: _Place, key: str, new: Sequence[object]) -> Edit:
    if isinstance(place.value, yaml.SequenceNode):
        if place.value.flow_style:
            inside = source[place.start + 1 : place.end - 1].rstrip()
            gap = "" if not inside.strip() else " " if inside.endswith(",") else ", "
            at = place.start + 1 + len(inside)
            return Edit(at, at, gap + ", ".join(map(render_value, new)))
        marks = _ITEM.findall(source[source.rfind("\n", 0, place.start) + 1 : place.end])
        indent, space = marks[-1] if marks else ("", " ")
        if marks:
            indent, space = marks[0][0], marks[-1][1]
        at = _line_stop(source, place.end)
        return Edit(at, at, "".join(f"\n{indent}-{space}{render_value(item)}" for item in new))
    written = source[place.start : place.end]
    if not written:
        return Edit(place.start, place.end, "".join(f"\n  - {render_value(item)}" for item in new))
    is_plain = isinstance(place.value, yaml.ScalarNode) and written[0] not in "'\"|>"
    if key.lower() == "tags" and is_plain and "," in written:
        return Edit(place.end, place.end, "".join(f", {item}" for item in new))
    said = place.value.value if isinstance(place.value, yaml.ScalarNode) else ""
    keep = written if written[0] in "'\"" and "\n" not in written else render_text(said)
    return Edit(place.start, place.end, "[" + ", ".join([keep, *map(render_value, new)]) + "]")


def _changed(text: str, key: str, value: object, written: str, flow: str) -> Edit | Refusal:
    """`written` is the value where it stands on lines of its own, `flow` where it must stay on one."""
    if has_unclosed_frontmatter(text):
        return Refusal("the frontmatter is not closed")
    end = line_end(text)
    frontmatter = find_frontmatter(text)
    name = render_text(key)
    if frontmatter is None:
        at = int(text.startswith("\ufeff"))
        new = f"---{end}{_line(name, _ended(flow, text))}{end}---{end}"
        return _read_back(text, Edit(at, at, new), key, value)
    source = text[frontmatter.start : frontmatter.end]
    properties, problems = parse_properties(source)
    if any(problem.message.startswith(UNREADABLE) for problem in problems):
        return Refusal(problems[0].message)
    place = _find(source, key)
    if place is not None:
        edit = _replacement(source, place, written)
    elif named(properties, key.lower()) is not None or key in properties:
        return Refusal(f"the place of the property {key!r} cannot be told")
    elif source.lstrip().startswith("{"):
        at = source.rstrip().rfind("}")
        inside = source[source.index("{") + 1 : at].rstrip()
        gap = "" if not inside or inside.endswith(",") else ", "
        at = source.index("{") + 1 + len(inside)
        edit = Edit(at, at, f"{gap}{name}: {flow}")
    else:
        first = re.search(r"^([ ]*)[^\s#]", source, re.MULTILINE)
        indent = first[1] if first and properties else ""
        edit = Edit(len(source), len(source), f"{indent}{_line(name, written)}\n")
    moved = Edit(edit.start + frontmatter.start, edit.end + frontmatter.start, _ended(edit.new, text))
    return _read_back(text, moved, key, value)


def _line(name: str, written: str) -> str:
    return f"{name}:{'' if written.startswith(chr(10)) or not written else ' '}{written}"


def _replacement(source: str, place: _Place, written: str) -> Edit:
    colon = source.rfind(":", place.key_end, place.start) + 1
    if "\n" in source[colon : place.start]:  # a list or map on lines of its own gives way to one line
        return Edit(colon, place.end, f" {written}")
    gap = "" if place.start > colon or written.startswith("\n") else " "
    return Edit(place.start, place.end, gap + written)


def _ended(new: str, text: str) -> str:
    return new.replace("\r\n", "\n").replace("\n", line_end(text))


def _line_stop(source: str, at: int) -> int:
    stop = source.find("\n", at)
    stop = len(source) if stop < 0 else stop
    return stop - 1 if source[stop - 1 : stop] == "\r" else stop


def _find(source: str, key: str) -> _Place | None:
    """The property `key` (any case, the last one) where the source is a block mapping; None where it is not found."""
    if yaml_refusal(source):
        return None
    readable = _PLACEHOLDER.sub(lambda found: "x" * len(found[0]), source)
    readable = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]", "x", readable)
    try:
        root = yaml.compose(readable, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    if not isinstance(root, yaml.MappingNode):
        return None
    found = None
    for name, value in root.value:
        if isinstance(name, yaml.ScalarNode) and name.value.lower() == key.lower():
            found = (name, value)
    if found is None:
        return None
    name, value = found
    start, end = value.start_mark.index, _node_end(value)
    colon = source.find(":", name.end_mark.index)
    if start == end:  # nothing is written
        start = end = colon + 1
    else:
        end = start + len(source[start:end].rstrip())
    return _Place(name.start_mark.index, name.end_mark.index, value, start, end)


def _node_end(node: yaml.Node) -> int:
    """Where a value ends; a block list's own mark lies behind the comments that follow it."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return int(node.end_mark.index)


def _read_back(text: str, edit: Edit, key: str, value: object) -> Edit | Refusal:
    """The edit, where the note then has the same properties but for `key`, which is `value` (None: whatever it is)."""
    after = text[: edit.start] + edit.new + text[edit.end :]
    before_block, after_block = find_frontmatter(text), find_frontmatter(after)
    old: dict[str, object] = {}
    if before_block:
        old, _ = parse_properties(text[before_block.start : before_block.end])
    if after_block is None:
        return Refusal("the note would lose its properties")
    new, problems = parse_properties(after[after_block.start : after_block.end])
    if any(problem.message.startswith(UNREADABLE) for problem in problems):
        return Refusal(f"the property {key!r} cannot be written here: {problems[0].message}")
    others = {name: repr(item) for name, item in old.items() if name.lower() != key.lower()}
    if {name: repr(item) for name, item in new.items() if name.lower() != key.lower()} != others:
        return Refusal(f"another property would change with {key!r}")
    if value is not None and not _same(named(new, key.lower()), value):
        return Refusal(f"the property {key!r} would not read as it should")
    if text[before_block.body_start if before_block else edit.end :] != after[after_block.body_start :]:
        return Refusal("the note's text would change with its properties")
    return edit


def _same(read: object, value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return isinstance(read, list) and len(read) == len(value) and all(map(_same, read, value))
    if isinstance(value, dict):
        return isinstance(read, dict) and [(str(k), _plain(v)) for k, v in read.items()] == [
            (str(k), _plain(v)) for k, v in value.items()
        ]
    return _plain(read) == _plain(value)


def _plain(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
