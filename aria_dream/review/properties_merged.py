"""The properties of two notes in one frontmatter: the first one's bytes stay, what it lacks is added."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aria_dream.errors import Problem
from aria_dream.markdown.note import parse_note
from aria_dream.markdown.properties import find_frontmatter, named, parse_properties, read_names, render_property
from aria_dream.review.rewriting import apply_edits
from aria_dream.vault.edit import Edit, Refusal
from aria_dream.vault.property_edit import UNREADABLE, plan_items, plan_lines, plan_property, property_lines

if TYPE_CHECKING:
    from aria_dream.markdown.note import Note

_LISTS = frozenset({"aliases", "tags"})
_EMPTY: tuple[object, ...] = (None, "", [])
_LINK = re.compile(r"\s*(?:\[\[[^\[\]]+\]\]|\[[^\[\]]*\]\([^()]+\)|<?https?://\S+)\s*")


def is_link_text(value: object) -> bool:
    """Whether a property's value is a link and nothing else: a wikilink, a Markdown link, an address."""
    return isinstance(value, str) and _LINK.fullmatch(value) is not None


def merge_properties(
    text: str, dropped: Note, *, alias: str, own_name: str, path: str
) -> tuple[str, list[Problem]] | Refusal:
    """`(text, problems)`: the note `text` with the properties of `dropped` and its old name among the aliases.

    Lists, and links of one property, are united as tags are; a property that is there and empty takes the value. Each
    other property on which the notes disagree keeps its value and is a problem.
    """
    note = parse_note(text)
    if any(problem.message.startswith(UNREADABLE) for problem in note.problems):
        return Refusal(f"the properties of {path} cannot be read, so none can be added")
    problems: list[Problem] = []
    if any(problem.message.startswith(UNREADABLE) for problem in dropped.problems):
        problems.append(Problem(path, 0, f"the properties of '{alias}' cannot be read; they are in the trash with it"))
    tags, aliases = _names(dropped)
    known = {own_name.lower()}
    wanted = [name for name in (*aliases, alias) if name.lower() not in known]
    for key, items in (("aliases", wanted), ("tags", tags)):
        edit = plan_items(text, key, items) if items else None
        if isinstance(edit, Refusal):
            return edit
        text = apply_edits(text, [edit]) if edit else text
    for key, value in dropped.properties.items():
        if key.lower() in _LISTS:
            continue
        mine = named(note.properties, key.lower())
        if mine is None and key.lower() not in {name.lower() for name in note.properties}:
            text, problem = _added(text, dropped, key, value, path)
            problems += problem
        elif repr(mine) != repr(value) and value not in _EMPTY:
            edit = _united(text, key, mine, value)
            if isinstance(edit, Refusal):
                kept, other = render_property(mine, 60), render_property(value, 60)
                problems.append(Problem(path, 0, f"'{key}' keeps {kept!r}; '{alias}' said {other!r}"))
            elif edit is not None:
                text = apply_edits(text, [edit])
    return text, problems


def _united(text: str, key: str, mine: object, value: object) -> Edit | Refusal | None:
    """The edit that brings `value` into a property that has `mine`; None where it is there, a Refusal where the two
    disagree."""
    if mine in _EMPTY:
        return plan_property(text, key, value)
    lists = isinstance(mine, list) or isinstance(value, list)
    if not lists and not (is_link_text(mine) and is_link_text(value)):
        return Refusal("they disagree")
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, list | dict) for item in items) or isinstance(mine, dict):
        return Refusal("only plain items are united")
    return plan_items(text, key, items)


def _names(note: Note) -> tuple[list[str], list[str]]:
    frontmatter = find_frontmatter(note.text)
    if frontmatter is None:
        return [], []
    source = note.text[frontmatter.start : frontmatter.end]
    properties, _ = parse_properties(source)
    tags, aliases, _ = read_names(properties, source)
    return tags, aliases


def _added(text: str, dropped: Note, key: str, value: object, path: str) -> tuple[str, list[Problem]]:
    lines = property_lines(dropped.text, key)
    edit = plan_lines(text, key, value, lines) if lines is not None else None
    if not isinstance(edit, Edit):
        edit = plan_property(text, key, value)
    if isinstance(edit, Edit):
        return apply_edits(text, [edit]), []
    return text, [Problem(path, 0, f"the property {key!r} could not be taken over: {edit.reason}")]
