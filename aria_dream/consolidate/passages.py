"""The unit of a consolidation: a note, or a section of a long note.

What is none: daily notes, templates, index pages, drawings and boards; a passage that is mostly quotation, code, table,
links or boxes to tick; one of a few words. A long note is a passage itself, and so is each of its sections.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Protocol

from aria_dream.consolidate.wording import CODE, HEADING, LINKED, QUOTE, TABLE, TASK, UNSPACED, folded, read_wording
from aria_dream.markdown.ending import plugin_owner
from aria_dream.markdown.properties import render_property
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.vault.property_edit import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aria_dream.consolidate.wording import Word, Wording
    from aria_dream.markdown.note import Note

LEAST_WORDS: Final = 12
"""A passage of fewer words of prose is not compared: too little to say that two of them are one."""
LONG_WORDS: Final = 300
"""From so many words on the sections of a note are passages too."""
LEAST_SHARE: Final = 0.5
"""Of a passage's words are prose at least: not quoted, code, table, a link or a box to tick."""
_NO_PROSE: Final = QUOTE | CODE | TASK | TABLE | LINKED
_PLACEHOLDER: Final = re.compile(r"\{\{[^{}\n]{1,80}\}\}|<%[^\n]{1,300}%>")
_TEMPLATES: Final = re.compile(
    r"(?:^|[\W_])(?:templates?|templater|vorlagen?|mod[eè]les?|plantillas?|modelli|sjablo(?:on|nen)|szablony?"
    r"|шаблоны?|テンプレート|模板)(?:$|[\W_])",
    re.IGNORECASE,
)
UNREAD: Final = "unreadable properties"
"""Stands for the properties of a note whose YAML cannot be read."""
_SAYS_NOTHING: Final = frozenset(
    {
        "aliases", "alias", "tags", "tag", "cssclass", "cssclasses", "created", "updated", "modified", "created_at",
        "updated_at", "date created", "date modified", "date_created", "date_modified", "last_modified", "lastmod",
        "created-at", "updated-at", "creation date", "modification date", "uid", "id", "uuid", "permalink", "publish",
        "position", "banner", "icon", "kanban-plugin",
    }
)  # fmt: skip
"""Properties in which two copies of one note differ: where and when it lay, how it looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One passage of the vault, with a name that survives edits elsewhere in its note."""

    id: str
    """Of its note's path and its headings, never of its place in the text."""
    path: str
    """Vault path of its note."""
    headings: tuple[str, ...]
    """The headings that lead to it, outermost first; empty for a whole note."""
    start: int
    """Offsets in characters of the note's text: from its heading line (or the body's beginning) ..."""
    end: int
    """... to behind its last character."""
    text: str
    """Exactly as written."""
    words: str
    """Normalised: what is compared and fingerprinted."""
    fingerprint: str
    """Hex SHA-256 of `words`; equal where only layout differs."""
    headline: str = ""
    """The heading with which a whole note begins; it is no part of `words`."""
    properties: tuple[tuple[str, str], ...] = ()
    """Name and value of the note's properties that say something of its content, sorted."""
    marks: tuple[str, ...] = ()
    """Where its links lead (`-> target`), and its tags (`#tag`), a whole note's properties included; sorted."""
    number: int = 1
    """Which of the sections under the same headings it is."""
    spelling: str = ""
    """Hex SHA-256 of the words with their capitals and the stops between them: a judge may see a name in the one and
    another sense in the other."""

    @property
    def title(self) -> str:
        """As a sentence names it: the note's title, and the heading behind ` › ` for a section."""
        name = self.path.rpartition("/")[2].removesuffix(".md")
        return " › ".join((name, *self.headings[-1:]))

    @property
    def state_hash(self) -> str:
        """Hex SHA-256 over all that a judge looks at but the name: words as they are spelt, headline, properties, links
        and tags."""
        said = repr((self.fingerprint, self.spelling, self.headline, self.properties, self.marks))
        return sha256(said.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def is_note(self) -> bool:
        """Whether it is a whole note."""
        return not self.headings


def passages_of_note(path: str, note: Note, *, set_apart: bool = False) -> tuple[Passage, ...]:
    """The passages of a note, the whole note first; none where it has none.

    `set_apart`: what only the vault knows of it: a daily note, a template, an index page, a plugin's. Total.
    """
    if set_apart or looks_like_template(path, note) or plugin_owner(note.text):
        return ()
    wording = read_wording(note)
    properties = _properties(note)
    found = []
    whole = _whole(path, note, wording, properties)
    if whole is not None:
        found.append(whole)
    if sum(_is_own(word) for word in wording.words) >= LONG_WORDS:
        found += _sections(path, note, wording, properties)
    return tuple(found)


class Titled(Protocol):
    """A passage that has a name."""

    @property
    def path(self) -> str:
        """Vault path of its note."""

    @property
    def title(self) -> str:
        """The note's title, and what follows it for a section."""


def told_apart(first: Titled, second: Titled) -> tuple[str, str]:
    """The titles of two passages, with their folders where the notes have one title."""
    if folded(first.title) != folded(second.title) or first.path == second.path:
        return first.title, second.title
    return _with_folder(first), _with_folder(second)


def _with_folder(one: Titled) -> str:
    folder, slash, _ = one.path.rpartition("/")
    return f"{folder}{slash}{one.title}"


def is_named_template(path: str) -> bool:
    """Whether a note's name or a folder above it says that it is there to be copied."""
    return _TEMPLATES.search(path.removesuffix(".md")) is not None


def looks_like_template(path: str, note: Note) -> bool:
    """Whether a note is there to be copied, by its name, its folder, or the placeholders in it."""
    return is_named_template(path) or any(
        not any(span.start <= found.start() < span.end for span in note.opaque if span.start >= note.body_start)
        for found in _PLACEHOLDER.finditer(note.text)
    )


def passage_id(path: str, headings: Sequence[str], number: int = 1) -> str:
    """The name of a passage: 20 hex digits. `number`: which of the sections under the same headings it is."""
    name = "\0".join((path, *headings, *((str(number),) if number > 1 else ())))
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def fingerprint_of(words: str) -> str:
    """Hex SHA-256 of normalised words."""
    return sha256(words.encode("utf-8", "surrogatepass")).hexdigest()


def _is_own(word: Word) -> bool:
    return not word.place & (_NO_PROSE | HEADING) and word.key[0].isalnum()


def _whole(path: str, note: Note, wording: Wording, properties: tuple[tuple[str, str], ...]) -> Passage | None:
    words: Sequence[Word] = wording.words
    headline = ""
    if note.headings and not note.text[note.body_start : note.headings[0].span.start].strip():
        headline = note.headings[0].text
        stop = note.headings[0].span.end
        words = [word for word in words if word.start >= stop]
    if not _is_passage(words):
        return None
    start, stop = note.body_start, len(note.text)
    marks = tuple(sorted({*_marks(wording, start, stop), *(f"#{tag.lower()}" for tag in note.tags)}))
    return _passage(path, (), note, (start, stop), words, properties, marks, headline)


def _sections(path: str, note: Note, wording: Wording, properties: tuple[tuple[str, str], ...]) -> Iterator[Passage]:
    """Each heading with the text up to the next one, of whatever level."""
    starts = [word.start for word in wording.words]
    trail: list[tuple[int, str]] = []
    seen: dict[tuple[str, ...], int] = {}
    for number, heading in enumerate(note.headings):
        trail = [step for step in trail if step[0] < heading.level]
        trail.append((heading.level, heading.text))
        names = tuple(text for _, text in trail)
        key = tuple(map(folded, names))
        seen[key] = seen.get(key, 0) + 1
        later = note.headings[number + 1 :][:1]
        start = note.text.rfind("\n", note.body_start, heading.span.start) + 1 or note.body_start
        stop = note.text.rfind("\n", 0, later[0].span.start) + 1 if later else len(note.text)
        words = wording.words[bisect_left(starts, heading.span.end) : bisect_left(starts, stop)]
        if _is_passage(words):
            marks = _marks(wording, start, stop)
            yield _passage(path, names, note, (start, stop), words, properties, marks, "", seen[key])


def _is_passage(words: Sequence[Word]) -> bool:
    own = sum(map(_is_own, words))
    # two characters of a script without spaces are about a word
    unspaced = sum(1 for word in words if _UNSPACED_WORD.match(word.key))
    if own - unspaced / 2 < LEAST_WORDS:
        return False
    every = sum(len(word.key.split()) for word in words if word.place & CODE or word.key[0].isalnum())
    return own >= LEAST_SHARE * every


_UNSPACED_WORD: Final = re.compile(rf"[{UNSPACED}]$")


def _passage(
    path: str,
    headings: tuple[str, ...],
    note: Note,
    span: tuple[int, int],
    words: Sequence[Word],
    properties: tuple[tuple[str, str], ...],
    marks: tuple[str, ...],
    headline: str,
    number: int = 1,
) -> Passage:
    said = " ".join(word.key for word in words)
    return Passage(
        id=passage_id(path, headings, number),
        path=path,
        headings=headings,
        start=span[0],
        end=span[1],
        text=note.text[span[0] : span[1]],
        words=said,
        fingerprint=fingerprint_of(said),
        headline="" if folded(headline) == folded(title_of(path)) else headline,
        properties=properties,
        marks=marks,
        number=number,
        spelling=fingerprint_of(" ".join(spelt_words(note.text, words))),
    )


def spelt_words(text: str, words: Sequence[Word]) -> Iterator[str]:
    """Each word with its capitals, behind a comma where a stop stands before it; behind that the first letter is free,
    as at the beginning of a block. What is no word is as it is compared."""
    for word in words:
        written = unicodedata.normalize("NFC", text[word.start : word.end])
        if word.apart:
            written = written[:1].lower() + written[1:]
        capital = written != written.lower() and folded(written) == word.key
        yield ("," if word.apart == 1 else "") + (written if capital else word.key)


def _marks(wording: Wording, start: int, stop: int) -> tuple[str, ...]:
    told = {f"-> {target}" for at, target in wording.links if start <= at < stop}
    told.update(f"#{tag}" for at, tag in wording.tags if start <= at < stop)
    return tuple(sorted(told))


def _properties(note: Note) -> tuple[tuple[str, str], ...]:
    if any(problem.message.startswith(UNREADABLE) for problem in note.problems):
        return ((UNREAD, note.text[: note.body_start]),)
    told = ((key.lower().strip(), value) for key, value in note.properties.items())
    return tuple(
        sorted(
            (key, render_property(value, 2000))
            for key, value in told
            if key not in _SAYS_NOTHING and value not in (None, "", [], {})
        )
    )
