"""A change, then whatever a writer does to the vault, then undo: each link means what it meant, or was changed by the
writer, or is told; no link appears that was not there; nothing else is touched.

Obsidian's renames are carried out as it does them: the file moves, and links in all notes follow it.
"""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.review.changes import Replacement, plan_obsolete, plan_placement, plan_replacements
from aria_dream.review.following import follow, is_text, named_by
from aria_dream.review.merging import plan_merge
from aria_dream.review.placement import AlreadyLinked, Target
from aria_dream.review.plan import Planned, VaultView
from aria_dream.review.rollback import Impossible, Partly, Restored, known_files, plan_rollback
from aria_dream.vault.canvas import parse_canvas
from aria_dream.vault.edit import Refusal, decode_note
from aria_dream.vault.identity import names_of, print_of
from aria_dream.vault.link_form import link_target
from aria_dream.vault.obsidian import AppSettings
from aria_dream.vault.resolve import Resolver
from aria_dream.world import PastWrite

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aria_dream.errors import Problem
    from aria_dream.vault.edit import ChangeSet
    from aria_dream.vault.identity import Names

TRASH = ".trash/"
KEEP, DROP = "Altitude.md", "f/Altitude 1.md"
NOTES = {
    KEEP: (
        "---\ntags: [a]\n---\n# Altitude\n\nAt altitude a dough rises faster.\nThe crust dries sooner. L1 [[Bread]]\n"
    ),
    DROP: (
        "Bakers in the mountains use less starter. L2 [[Bread|the loaf]] L3 [md](../Tea.md)\n\n## Oven\n\nSteam. ^b1\n"
    ),
    "Bread.md": "A loaf is fed like a rye starter. It sleeps in the cold. L4 [[Altitude 1]]\r\nNothing else.\r\n",
    "Tea.md": (
        '---\nup: "[[Altitude 1]]"\n---\nSee L5 [[Altitude 1]], L6 [[Altitude 1|there]], L7 ![[f/Altitude 1]] and '
        "L8 [md](f/Altitude%201.md).\nMore: L9 [[Altitude 1#Oven]] L10 [[Altitude 1#^b1|block]]\n\n- L11 [[Altitude]]\n"
    ),
    "g/Rye.md": "Rye is kept warm. L12 [up](../f/Altitude%201.md#Oven) L13 [[Tea]]\n",
    "Board.canvas": json.dumps(
        {
            "nodes": [
                {"id": "c1", "type": "file", "file": DROP},
                {"id": "c2", "type": "text", "text": "L14 [[Altitude 1]]"},
            ]
        }
    ),
}
MARK = re.compile(r"L\d+ (?=!?\[)")


@dataclass
class Vault:
    """Files by path; each keeps an identity through renames."""

    files: dict[str, bytes] = field(default_factory=lambda: {path: text.encode() for path, text in NOTES.items()})
    ids: dict[str, str] = field(default_factory=lambda: {path: path for path in NOTES})

    def names(self) -> list[str]:
        return [path for path in self.files if not path.startswith(TRASH)]

    def view(self) -> VaultView:
        here = {NotePath(path): self.files[path] for path in self.names()}
        trashed = frozenset(path for path in self.files if path.startswith(TRASH))
        return VaultView(files=tuple(sorted(self.names())), contents=here, trashed=trashed)

    def texts(self, paths: Iterable[str]) -> dict[str, str]:
        return {path: decode_note(self.files[path]) for path in paths if path in self.files}

    def carry_out(self, changes: ChangeSet) -> list[PastWrite]:
        past = []
        for plan in changes.writes:
            path = str(plan.path)
            past.append(PastWrite(path=plan.path, before=self.files.get(path), after=plan.content))
            if plan.content is None:
                del self.files[path]
            else:
                self.files[path] = plan.content
                self.ids.setdefault(path, path)
        for move in changes.moves:
            old, new = str(move.source), str(move.destination)
            assert new not in self.files
            self.files[new], self.ids[new] = self.files.pop(old), self.ids.pop(old)
            image = self.files[new]
            past.append(PastWrite(path=move.source, before=image, after=image, moved_to=move.destination))
        return past

    def rename(self, old: str, new: str) -> None:
        taken = {path.lower() for path in self.files if path != old}
        if old not in self.names() or new in (old, "") or new.lower() in taken:
            return
        before = Resolver(self.names())
        after = Resolver([new if path == old else path for path in self.names()])
        for path in self.names():
            text = decode_note(self.files[path])
            if path.endswith(".canvas"):
                nodes = json.loads(text)
                for node in nodes["nodes"]:
                    if node["type"] == "file":
                        node["file"] = new if node["file"] == old else node["file"]
                    else:
                        node["text"] = carried(node["text"], path, path, old, new, before, after)
                text = json.dumps(nodes, indent="\t", ensure_ascii=False)
            else:
                text = carried(text, path, new if path == old else path, old, new, before, after)
            self.files[path] = text.encode("utf-8", "surrogateescape")
        self.files[new], self.ids[new] = self.files.pop(old), self.ids.pop(old)

    def meanings(self) -> dict[str, list[tuple[str, str | None]]]:
        """By the mark before it, each link's note and the note (by identity) that it means."""
        resolver = Resolver(self.names())
        found: dict[str, list[tuple[str, str | None]]] = {}
        for path in self.names():
            for mark, link in marked_links(path, decode_note(self.files[path])):
                target = resolver.resolve(link, path)
                found.setdefault(mark, []).append((path, self.ids[target] if target else None))
        return found


def carried(text: str, source: str, place: str, old: str, new: str, before: Resolver, after: Resolver) -> str:
    """The text as Obsidian leaves it when `old` becomes `new`: the targets of its links follow, and nothing else."""
    for link in reversed(parse_note(text).links):
        target = before.resolve(link.path, source)
        wanted = new if target == old else target
        if wanted is None or not link.path or after.resolve(link.path, place) == wanted:
            continue
        name = link_target(after, AppSettings(), wanted, place)
        if link.markdown:
            goal = posixpath.relpath(wanted, posixpath.dirname(place) or ".")
            raw = f"{link.raw[: link.raw.index('](')]}]({quote(goal)}{link.subpath})"
        else:
            start = link.raw.index("[[") + 2
            raw = link.raw[:start] + name + re.sub(r"^[^\]|#]*", "", link.raw[start:])
        text = text[: link.start] + raw + text[link.end :]
    return text


def marked_links(path: str, text: str) -> list[tuple[str, str]]:
    if path.endswith(".canvas"):
        nodes = json.loads(text)["nodes"]
        cards = [pair for node in nodes if node["type"] == "text" for pair in marked_links("", node["text"])]
        return [*cards, *((node["id"], node["file"]) for node in nodes if node["type"] == "file")]
    note = parse_note(text)
    found = []
    for link in note.links:
        line = text.rfind("\n", 0, link.start) + 1
        mark = "up:" if link.in_frontmatter else (MARK.findall(text[line : link.start] + "[") or [""])[-1].strip()
        if mark and (link.in_frontmatter or text[: link.start].endswith(mark + " ")):
            found.append((mark, link.path))
    return found


def raw_links(vault: Vault) -> set[tuple[str, str]]:
    """Every link as what it shows and the identity that it means; by raw text where it means nothing."""
    resolver = Resolver(vault.names())
    found = set()
    for path in vault.names():
        text = decode_note(vault.files[path])
        for link in parse_canvas(text)[0] if path.endswith(".canvas") else parse_note(text).links:
            target = resolver.resolve(link.path, path)
            found.add((link.subpath, vault.ids[target] if target else f"? {link.path}"))
    return found


def plan_of(vault: Vault, kind: str) -> ChangeSet:
    view = vault.view()
    found: Planned | AlreadyLinked | Refusal
    match kind:
        case "merge":
            found = plan_merge(view, NotePath(KEEP), NotePath(DROP))
        case "mention":
            found = plan_placement(view, NotePath("Bread.md"), Target(path="g/Rye.md", title="Rye"))
        case "related":
            found = plan_placement(view, NotePath("g/Rye.md"), Target(path=KEEP, title="Altitude"))
        case "update":
            one = Replacement(path=NotePath("Bread.md"), old="Nothing else.", new="See [[Tea]].")
            found = plan_replacements(view, [one])
        case "resolution":
            old = "The crust dries sooner."
            new = f"~~{old}~~ See [[g/Rye]]."
            found = plan_replacements(view, [Replacement(path=NotePath(KEEP), old=old, new=new)])
        case _:
            found = plan_obsolete(view, NotePath("Tea.md"))
    assert isinstance(found, Planned), found
    return found.changes


def past_of(vault: Vault, changes: ChangeSet) -> tuple[list[PastWrite], Names]:
    view = vault.view()
    known = named_by(changes, view.contents, view.resolver())
    texts = vault.texts(filter(is_text, known))
    names = names_of({path: print_of(texts[path]) for path in known}, vault.names())
    return vault.carry_out(changes), names


def undo(vault: Vault, past: list[PastWrite], names: Names) -> Restored | Partly | Impossible:
    there = frozenset(vault.names())
    place = follow(known_files(past, names, there), names, there, vault.texts)
    contents = {NotePath(path): data for path, data in vault.files.items()}
    return plan_rollback(past, contents, place=place, names=names, files_now=there)


KINDS = st.sampled_from(["merge", "merge", "merge", "mention", "related", "update", "resolution", "obsolete"])
GOALS = st.sampled_from(
    ["Höhe.md", "g/Altitude.md", "ALTITUDE.md", "new/Altitude 1.md", "Tea.md", "f/Bread.md", "a/b/Leaf.md", "Rye.md"]
)
FILES = st.sampled_from(list(NOTES))
STEP = st.one_of(
    st.tuples(st.just("rename"), FILES, GOALS),
    st.tuples(st.just("folder"), st.sampled_from(["f/", "g/"]), st.sampled_from(["h/", "x/y/"])),
    st.tuples(st.just("delete"), FILES, st.just("")),
    st.tuples(st.just("create"), GOALS, st.just("A new note.\n")),
    st.tuples(st.just("retake"), FILES, st.just("Another note altogether. It says other things.\n")),
    st.tuples(st.just("type"), FILES, st.sampled_from(["top", "end", "middle"])),
    st.tuples(st.just("point"), FILES, st.sampled_from(["Bread", "Tea", "Altitude 1", "Nowhere"])),
    st.tuples(st.just("drop link"), FILES, st.just("")),
    st.tuples(st.just("swap lines"), FILES, st.just("")),
    st.tuples(st.just("change"), KINDS, st.just("")),
)


def place_of(vault: Vault, identity: str) -> str:
    return next((path for path, id_ in vault.ids.items() if id_ == identity and path in vault.files), "")


def step(vault: Vault, what: str, name: str, more: str, touched: set[str]) -> None:
    """One thing that a writer does. `touched`: marks of links that were changed, or lie in a note that is gone."""
    path = place_of(vault, name)
    if what == "rename":
        vault.rename(path, more if path.endswith(".md") else "")
    elif what == "folder":
        for file in sorted(vault.names()):
            if file.startswith(name):
                vault.rename(file, more + file.removeprefix(name))
    elif what in ("create", "retake"):
        if name.lower() not in {file.lower() for file in vault.files} and name.endswith(".md"):
            vault.files[name], vault.ids[name] = more.encode(), f"{what} {name}"
    elif what == "change":
        try:
            vault.carry_out(plan_of(vault, name))
        except AssertionError:
            return
    elif path and not path.startswith(TRASH) and path.endswith(".md"):
        edit(vault, what, path, more, touched)


def edit(vault: Vault, what: str, path: str, more: str, touched: set[str]) -> None:
    text = decode_note(vault.files[path])
    links = [link for link in parse_note(text).links if not link.in_frontmatter]
    if what == "delete":
        touched |= {mark for mark, _ in marked_links(path, text)}
        del vault.files[path]
        return
    if what == "type":
        lines = text.splitlines(keepends=True)
        top = next((n for n, line in enumerate(lines) if n and line.startswith("---")), -1) + 1
        at = {"top": top, "middle": max(len(lines) // 2, top), "end": len(lines)}
        lines.insert(at[more], "Typed here.\n")
        text = "".join(lines)
    elif what == "swap lines":
        start = parse_note(text).body_start
        lines = text[start:].splitlines(keepends=True)
        if all(line.endswith("\n") for line in lines):
            text = text[:start] + "".join([*lines[1:], *lines[:1]])
    elif links:
        link = links[len(links) // 2]
        mark = (MARK.findall(text[: link.start] + "[") or [""])[-1].strip()
        touched.add(mark)
        text = text[: link.start] + ("" if what == "drop link" else f"[[{more}|moved]]") + text[link.end :]
    vault.files[path] = text.encode("utf-8", "surrogateescape")


@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(KINDS, st.lists(STEP, max_size=5))
def test_every_link_means_what_it_meant_or_is_told(kind: str, steps: list[tuple[str, str, str]]) -> None:
    vault = Vault()
    meant, as_written = vault.meanings(), written(vault)
    past, names = past_of(vault, plan_of(vault, kind))
    made, touched = vault.meanings(), set[str]()
    ours = {mark for mark, link in written(vault).items() if as_written.get(mark, link) != link}
    for one in steps:
        step(vault, *one, touched)
    touched |= {mark for mark, links in vault.meanings().items() if ends(links) != ends(made.get(mark, links))}
    there, held = raw_links(vault), dict(vault.files)
    found = undo(vault, past, names)
    if isinstance(found, Impossible):
        assert found.by_hand
        return
    left = found.left if isinstance(found, Partly) else ()
    now = vault.meanings()
    vault.carry_out(found.changes)
    check_meanings(vault, meant, touched, left)
    check_told(vault, meant, ours, left)
    for mark, links in vault.meanings().items():
        before = {path: target for path, target in now.get(mark, ()) if target is not None and mark not in ours}
        assert before == {path: dict(links).get(path, target) for path, target in before.items()}, mark
    known = there | {(subpath, id_) for subpath, id_ in raw_links(Vault())}
    assert {one for one in raw_links(vault) if one not in known and not one[1].startswith("? ")} == set()
    changed = {str(plan.path) for plan in found.changes.writes} | {str(move.source) for move in found.changes.moves}
    assert {path: data for path, data in held.items() if path not in changed}.items() <= vault.files.items()


def ends(links: Iterable[tuple[str, str | None]]) -> set[str | None]:
    return {target for _, target in links}


def written(vault: Vault) -> dict[str, str]:
    """By mark what its link looks up, in the notes that were there from the start."""
    pairs = ((path, decode_note(vault.files[path])) for path in sorted(vault.names(), key=lambda path: path == KEEP))
    return {mark: link for path, text in reversed(list(pairs)) for mark, link in marked_links(path, text)}


def check_told(
    vault: Vault, meant: Mapping[str, list[tuple[str, str | None]]], ours: set[str], left: Iterable[Problem]
) -> None:
    """A link that the change had rewritten means what it meant, or its very line is told."""
    told = {(problem.path, problem.line) for problem in left}
    alive = {vault.ids[path] for path in vault.names()}
    resolver = Resolver(vault.names())
    for path in vault.names():
        text = decode_note(vault.files[path])
        for mark, link in marked_links(path, text):
            if mark not in ours or path.endswith(".canvas"):
                continue
            target, was = resolver.resolve(link, path), meant[mark][0][1]
            line = text.count("\n", 0, text.index(f"{mark} " if mark != "up:" else mark)) + 1
            assert was not in alive or (target and vault.ids[target] == was) or {(path, line), (path, 0)} & told, mark


def check_meanings(
    vault: Vault,
    meant: Mapping[str, list[tuple[str, str | None]]],
    touched: set[str],
    left: Iterable[Problem],
) -> None:
    told = {problem.path for problem in left}
    alive = {vault.ids[path] for path in vault.names()}
    for mark, links in vault.meanings().items():
        if mark in touched or mark not in meant:
            continue
        ((_, was),) = meant[mark]
        for path, target in links:
            assert target == was or was not in alive or path in told, (mark, path, target, was)


@pytest.mark.parametrize("kind", ["merge", "mention", "related", "update", "resolution", "obsolete"])
def test_at_once_everything_is_as_it_was_to_the_byte(kind: str) -> None:
    vault = Vault()
    past, names = past_of(vault, plan_of(vault, kind))
    assert vault.files != Vault().files
    found = undo(vault, past, names)
    assert isinstance(found, Restored)
    vault.carry_out(found.changes)
    assert vault.files == Vault().files


@pytest.mark.parametrize("goal", ["Höhe.md", "g/Altitude.md", "ALTITUDE.md", "deep/er/Über 9.md"])
def test_the_kept_note_under_any_name(goal: str) -> None:
    vault = Vault()
    past, names = past_of(vault, plan_of(vault, "merge"))
    vault.rename(KEEP, goal)
    found = undo(vault, past, names)
    assert not isinstance(found, Impossible)
    assert not (isinstance(found, Partly) and found.left)
    vault.carry_out(found.changes)
    whole = Vault()
    whole.rename(KEEP, goal)
    assert vault.files == whole.files


MOVES = st.lists(
    st.tuples(
        st.sampled_from([KEEP, "Bread.md", "Tea.md", "g/Rye.md", "g/"]),
        st.sampled_from(["Höhe.md", "q/Tee.md", "ALTITUDE.md", "a/b/Leaf 2.md", "Bread.md", "x/"]),
    ),
    max_size=6,
)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(KINDS, MOVES)
def test_names_alone_leave_nothing_to_tell(kind: str, moves: list[tuple[str, str]]) -> None:
    """After renames the vault reads to the byte as if there had been these renames and no change."""
    vault, plain = Vault(), Vault()
    past, names = past_of(vault, plan_of(vault, kind))
    for one in (vault, plain):
        for name, goal in moves:
            if name.endswith("/") == goal.endswith("/"):
                step(one, "folder" if name.endswith("/") else "rename", name, goal, set())
    found = undo(vault, past, names)
    assert not isinstance(found, Impossible)
    assert not (isinstance(found, Partly) and found.left)
    vault.carry_out(found.changes)
    assert {**vault.files, "Board.canvas": b""} == {**plain.files, "Board.canvas": b""}
    cards = [json.loads(one.files["Board.canvas"]) for one in (vault, plain)]
    assert cards[0] == cards[1]
