"""What a dream may see, and what may leave the machine. The only maker of `ShareableExcerpt`s.

Two levels: a *hidden* note is invisible to every tier; a *local* one is dreamt of on this machine only. Of either, no
text leaves, and its title, aliases and path are blanked where other notes mention it. A check after the blanking
withholds what it missed, so that no excerpt holds a private name whatever the writing.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from aria_dream.errors import Problem
from aria_dream.markdown.no_words import find_pasted
from aria_dream.markdown.note import Span, parse_note
from aria_dream.markdown.scan import is_unread, read_flags
from aria_dream.policy.kinds import Door
from aria_dream.policy.patterns import fold, matches, path_matches
from aria_dream.privacy.private_names import BLANK, BLANK_SHOWN, PrivateNames, private_names
from aria_dream.privacy.secrets import redact_secrets, show_marks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aria_dream.markdown.note import Note
    from aria_dream.policy.patterns import NotePattern
    from aria_dream.policy.policy import Policy
    from aria_dream.policy.settings import Settings

EXCERPT_CHARACTERS = 4000
"""Enough for the gist of a note; a reach judges a pair, it does not read a book."""

_SEAL = object()


class Visibility(Enum):
    OPEN = "open"
    LOCAL = "local"
    """Dreamt of on this machine, never sent."""
    HIDDEN = "hidden"
    """Invisible to every tier, vectors and output included."""


class Describable(Protocol):
    """What is asked of a note here; `NoteFacts` is one."""

    @property
    def path(self) -> str: ...
    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def aliases(self) -> tuple[str, ...]: ...
    @property
    def dream(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareableExcerpt:
    """Text that may leave the machine. Nothing but this module can make one."""

    title: str
    text: str
    blanked: tuple[tuple[str, int], ...]
    """What was taken out: `("private note", 2)`, `("e-mail", 1)`, sorted."""
    seal: object = field(repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise TypeError("only aria_dream.privacy.sharing makes a ShareableExcerpt")


@dataclass(frozen=True, slots=True)
class Withheld:
    """Nothing of this may leave. A value: the caller says it and goes on without."""

    reason: str
    """One sentence; it names no private note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """The policy applied to one state of a vault. `survey` makes it."""

    settings: Settings
    closed: str
    """Why nothing at all may leave; `""` where the policy permits it."""
    names: PrivateNames
    hidden: frozenset[str]
    """Vault paths of the hidden notes."""
    local: frozenset[str]
    """Vault paths of the local ones."""

    def visibility(self, path: str) -> Visibility:
        """Of a note that was surveyed; one that was not counts as open unless a folder or glob says otherwise."""
        if path in self.hidden:
            return Visibility.HIDDEN
        if path in self.local:
            return Visibility.LOCAL
        return visibility(self.settings, path=path)


def visibility(settings: Settings, *, path: str, tags: Iterable[str] = (), dream: bool = True) -> Visibility:
    """How private the note at `path` is. `tags` without `#`; `dream` is False where its property says not to dream."""
    tags = tuple(tags)
    if not dream or any(matches(pattern, path, tags) for pattern in settings.exclude):
        return Visibility.HIDDEN
    if any(map(_is_private_tag, tags)) or any(matches(pattern, path, tags) for pattern in settings.never_send):
        return Visibility.LOCAL
    return Visibility.OPEN


@lru_cache(maxsize=1 << 12)  # a vault has few tags and many notes
def _is_private_tag(tag: str) -> bool:
    return "private" in fold(tag).split("/")


def survey(notes: Iterable[Describable], policy: Policy) -> tuple[Sharing, tuple[Problem, ...]]:
    """What the policy means for these notes, which must be all of the vault; and the patterns that mean none of them.

    A pattern without a match may be a slip of the pen for a folder that then is not protected, so it closes sending.
    """
    settings = policy.settings
    listed = (*settings.exclude, *settings.never_send)
    idle = dict.fromkeys(listed)
    hidden: set[str] = set()
    local: set[str] = set()
    private: list[Describable] = []
    for note in notes:
        if idle and note.path != policy.path:  # it names every tag that it excludes, and so bears them
            for pattern in [pattern for pattern in idle if matches(pattern, note.path, note.tags)]:
                del idle[pattern]
        seen = visibility(settings, path=note.path, tags=note.tags, dream=note.dream)
        if seen is not Visibility.OPEN:
            (hidden if seen is Visibility.HIDDEN else local).add(note.path)
            private.append(note)
    problems = tuple(_unmatched(policy, pattern) for pattern in idle)
    closed = policy.refusal(Door.SEND) or (f"sending is off: {problems[0]}" if problems else "")
    names = private_names((note.path, note.aliases) for note in private)
    sharing = Sharing(settings=settings, closed=closed, names=names, hidden=frozenset(hidden), local=frozenset(local))
    return sharing, problems


def _unmatched(policy: Policy, pattern: NotePattern) -> Problem:
    name = "exclude" if pattern in policy.settings.exclude else "never_send"
    place, _, line = policy.origin(name).place.rpartition(":")
    message = f"`{name}` names `{pattern}`, and no note is meant by it; until it is mended nothing leaves this machine"
    return Problem(place or policy.path, int(line) if line.isdigit() else 0, message)


def excerpt_note(
    sharing: Sharing, note: Note, path: str, *, limit: int = EXCERPT_CHARACTERS
) -> ShareableExcerpt | Withheld:
    """The note's title and the beginning of its prose, fit to leave; or why nothing of it may.

    Left out: properties, comments, the text behind embeds. The note itself is asked once more how private it is, so
    that a survey a moment old gives nothing away.
    """
    now = visibility(sharing.settings, path=path, tags=note.tags, dream=read_flags(note.properties)[0])
    if now is not Visibility.OPEN or sharing.visibility(path) is not Visibility.OPEN:
        return Withheld("the note is private")
    if any(is_unread(problem) for problem in note.problems):
        return Withheld("the note's properties cannot be read, so nobody knows whether it is private")
    body, links = _shareable_body(sharing, note)
    return _made(sharing, _plain(_title(path)), body, limit=limit, links=links)


def excerpt_text(
    sharing: Sharing, text: str, *, title: str = "", limit: int = EXCERPT_CHARACTERS
) -> ShareableExcerpt | Withheld:
    """Text that is no note (a reason, a seed, a path in words), fit to leave; or why it may not.

    A link to a private file goes whole, with what it shows, as in a note.
    """
    plain = _plain(text)
    body, links = _without_private_links(sharing, parse_note(f"\n{plain}"), [])
    return _made(sharing, _plain(title), body[1:], limit=limit, links=links)


def shareable_title(sharing: Sharing, path: str) -> str:
    """The title of the note at `path`, blanked where it is private: for the steps of a dream's path."""
    if sharing.visibility(path) is not Visibility.OPEN:
        return BLANK_SHOWN
    title, _ = sharing.names.blank(redact_secrets(_plain(_title(path)))[0])
    return BLANK_SHOWN if sharing.names.are_in(title) else _shown(title)


def _made(sharing: Sharing, title: str, text: str, *, limit: int, links: int) -> ShareableExcerpt | Withheld:
    if sharing.closed:
        return Withheld(sharing.closed)
    counts: Counter[str] = Counter({"private note": links} if links else {})
    parts: list[str] = []
    heading = f"# {' '.join(title.split())}\n\n" if title else ""  # on one line, or a blank line would end it
    for part, head in ((title, ""), (text, heading)):
        marked, secrets = _redacted(part, head)
        clean, blanked = sharing.names.blank(marked)
        counts.update(secrets)
        counts.update({"private note": blanked} if blanked else {})
        if sharing.names.are_in(clean):
            return Withheld("it mentions a private note in a way that could not be blanked")
        parts.append(clean)
    # Cut last: a name that a cut had halved could no longer be recognised.
    title, text = _shown(parts[0][:200]), _shown(parts[1][:limit])
    return ShareableExcerpt(title=title, text=text, blanked=tuple(sorted(counts.items())), seal=_SEAL)


def _redacted(text: str, head: str) -> tuple[str, Counter[str]]:
    """`text` without its secrets, read under the heading `head`: a note called *Passwords* says what its lines are."""
    marked, secrets = redact_secrets(head + text)
    if not head:
        return marked, secrets
    before, _, after = marked.partition("\n\n")
    return after, secrets - redact_secrets(before)[1] - redact_secrets(head)[1]


def _shareable_body(sharing: Sharing, note: Note) -> tuple[str, int]:
    """The body without comments and pasted data, links to private files blanked whole, and how many those were."""
    cuts = [span for span in note.opaque if note.text.startswith(("%%", "<!--"), span.start)]
    data = find_pasted(note.text[note.body_start :], random=False)
    cuts += [Span(start + note.body_start, end + note.body_start) for start, end in data]
    return _without_private_links(sharing, note, cuts)


def _without_private_links(sharing: Sharing, note: Note, cut: Iterable[Span]) -> tuple[str, int]:
    """The body without what lies in `cut`, links to private files blanked whole, and how many of those there were."""
    cuts = [(span.start, span.end, "") for span in cut]
    private = (link for link in note.links if not link.in_frontmatter and _names_private(sharing, link.path))
    cuts.extend((link.start, link.end, BLANK) for link in private)
    out: list[str] = []
    at = note.body_start
    links = 0
    for start, end, instead in sorted(cuts):
        if start >= at:
            out += [_plain(note.text[at:start]), instead]
            links += bool(instead)
        at = max(at, end)
    return "".join((*out, _plain(note.text[at:]))), links


def _names_private(sharing: Sharing, link_path: str) -> bool:
    """True where a link may mean a private file: by its name wherever it lies, or by a folder that is private."""
    patterns = (*sharing.settings.exclude, *sharing.settings.never_send)
    by_folder = any(path_matches(pattern, link_path) for pattern in patterns if not pattern.tag)
    return by_folder or sharing.names.is_name(link_path.rpartition("/")[2])


def _title(path: str) -> str:
    return re.sub(r"(?i)\.md$", "", path.rpartition("/")[2])


_NOT_PLAIN = re.compile(r"[^\n\r\t\x20-\x7e]")
_FILLERS = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Letters and marks that show nothing, whatever their category says."""
_LINE_ENDS = "\x0b\x0c\x85\u2028\u2029"
_TURNED = re.compile("\u202e([^\n\r\u202c\u2028\u2029\u2066-\u2069]*)")
"""What a reader sees from right to left, whatever its letters."""


def _plain(text: str) -> str:
    """`text` without what nobody sees (it could split a name so that it is not recognised) and what is no character.

    Gone is at least what `datamark` takes out of a prompt later: what is recognised here must be what is read there.
    The private use area, which marks what is blanked, is gone too. What stands turned round is turned as it is seen.
    """
    whole = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return _NOT_PLAIN.sub(_seen, _TURNED.sub(lambda turned: turned[1][::-1], whole))


def _seen(found: re.Match[str]) -> str:
    character = found[0]
    if character in _LINE_ENDS:
        return "\n"
    hidden = unicodedata.category(character) in ("Cc", "Cf", "Cn", "Co") or _FILLERS.match(character)
    return "" if hidden else character


def _shown(text: str) -> str:
    return show_marks(text.replace(BLANK, BLANK_SHOWN))
