"""The names of private notes: recognised in other notes' text, and blanked there."""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from aria_dream.policy.patterns import fold
from aria_dream.privacy.look_alikes import UMLAUTS, LookAlike, Looks, look_alike, without_accents
from aria_dream.privacy.turned_names import TurnedName, other_names, spans_of_turned, turn_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

BLANK = "\ue000"
"""Stands for a blanked name while a text is worked on: a private note may itself be called "private" or "note"."""

BLANK_SHOWN = "[private note]"

_JOINT = r"(?:%20|&nbsp;|[\s_+\-\u2010-\u2015*~=`\\])+"
"""What stands between the words of a name: space in any spelling, and marks of emphasis (`**Secret** plan`)."""
_JOINTS = re.compile(_JOINT)
_MARKS = re.compile(r"[*~=`\\]|<[^<>]{0,40}>")
"""What may tear a word apart without a reader seeing it."""
_LOOSE, _SHORTEST = 5, 2
"""Weights from which a name is blanked wherever it stands, and at all."""
_LONG = 8
"""Letters from which a name is looked for whatever stands between them; shorter ones occur across words by chance."""
_DENSE = re.compile(  # Thai, Lao, Burmese, Khmer, Chinese, Japanese, Korean
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateNames:
    """Titles and aliases of private notes. `private_names` makes it."""

    keys: frozenset[str]
    """Every title and alias, in the form of `name_form`."""
    loose: tuple[str, ...]
    """Those long enough to be blanked wherever they stand, inside a longer word too; longest first."""
    whole: tuple[str, ...]
    """Short ones, blanked as a word of their own only, or every `Al` would tear `also` apart; longest first."""
    folders: dict[str, tuple[str, ...]]
    """Of each title the folders its notes lie in, as text forms: a written path is blanked with them."""
    spellings: dict[str, tuple[str, ...]]
    """Of each name how it is really written, where folding changes more than case (`ß`)."""
    disguises: tuple[LookAlike, ...] = ()
    """Each name as letters that only look like its own may spell it; longest first."""
    turned: Mapping[str, tuple[TurnedName, ...]] = field(default_factory=dict)
    """Names of several words as they are turned and shortened, under each of their words."""

    def is_name(self, name: str) -> bool:
        """True where a link's last part is the title or an alias of a private note."""
        return bool(self.keys) and name_form(re.sub(r"(?i)\.md$", "", name.strip())) in self.keys

    def are_in(self, text: str) -> bool:
        """True where `text` still holds a name that `blank` takes out, or one in a spelling that it does not know:
        torn apart by marks of emphasis, percent-encoded, as entities, with accents of its own, or in letters that look
        alike."""
        form = name_form(text)
        decoded = unicodedata.normalize("NFKC", html.unescape(unquote(text)))
        untorn = _MARKS.sub("", decoded)
        if any(spans_of_turned(self.turned, written) for written in (untorn, without_accents(untorn))):
            return True
        bare, letters = name_form(untorn), _letters(untorn)
        without = without_accents(bare)
        looks = Looks(untorn)
        for name in self.disguises:
            torn = not name.whole and len(name.letters) >= _LONG and name.letters in looks.letters
            if torn or any(True for _ in looks.spans(name)):
                return True
        return any(
            name in form
            or name in bare
            or name in without
            or (len(own := _name_letters(name)) >= _LONG and own in letters)
            for name in self.loose
        ) or any(
            name in where and _word(name).search(where) for where in dict.fromkeys((form, bare)) for name in self.whole
        )

    def blank(self, text: str) -> tuple[str, int]:
        """`text` (in NFC) with every such name, and a path that leads to it, replaced; and how many there were.

        What only looks like a name is one.
        """
        text = unicodedata.normalize("NFC", text)
        names = (*self.loose, *self.whole)
        # A turned name goes before its single words, which may be names of their own, and after what is in order.
        text, whole = self._without(text, [name for name in names if " " in name])
        text, turned = _blanked(text, self.turned)
        text, single = self._without(text, [name for name in names if " " not in name])
        count = whole + turned + single
        looks = Looks(text)
        for disguise in self.disguises:
            if spans := list(looks.spans(disguise)):
                for start, end in reversed(spans):
                    text = f"{text[:start]}{BLANK}{text[end:]}"
                looks, count = Looks(text), count + len(spans)
        return text, count

    def _without(self, text: str, names: Sequence[str]) -> tuple[str, int]:
        form = name_form(text)
        decoded = name_form(unquote(text)) if "%" in text else form
        count = 0
        for name in names:
            if name in form or name in decoded:
                text, found = self._expression(name).subn(BLANK, text)
                count += found
        return text, count

    def _expression(self, name: str) -> re.Pattern[str]:
        edge_before, edge_after = ("", "") if name in self.loose else (r"(?<![^\W_])", r"(?![^\W_])")
        prefixes = "|".join(f"(?:{_spelled(folder)})/" for folder in self.folders.get(name, ()))
        path = f"(?:{prefixes})?" if prefixes else ""
        names = "|".join(_spelled(spelling) for spelling in (name, *self.spellings.get(name, ())))
        return re.compile(f"{edge_before}{path}(?:{names})(?:\\.md)?{edge_after}", re.IGNORECASE)


def _blanked(text: str, turned: Mapping[str, tuple[TurnedName, ...]]) -> tuple[str, int]:
    spans = spans_of_turned(turned, text)
    for start, end in reversed(spans):
        text = f"{text[:start]}{BLANK}{text[end:]}"
    return text, len(spans)


def private_names(notes: Iterable[tuple[str, Iterable[str]]]) -> PrivateNames:
    """The names of these notes, each given as `(vault path, aliases)`."""
    notes = [(path, _known_as(_title(path), aliases)) for path, aliases in notes]
    folders: dict[str, set[str]] = {}
    spellings: dict[str, set[str]] = {}
    for path, aliases in notes:
        folder, title = path.rpartition("/")[0], _title(path)
        for name in (name_form(title), *_unaccented(name_form(title))):
            folders.setdefault(name, set()).update(_endings(name_form(folder)))
        for name in (title, *aliases):
            for form in (name_form(name), *_unaccented(name_form(name))):
                folders.setdefault(form, set())
            written = _JOINTS.sub(" ", unicodedata.normalize("NFC", name).lower()).strip()
            if written != name_form(name):
                spellings.setdefault(name_form(name), set()).add(written)
    folders.pop("", None)
    written_as = {name_form(name): name for path, aliases in notes for name in (_title(path), *aliases)}
    ordered = sorted(folders, key=lambda name: (-len(name), name))
    return PrivateNames(
        keys=frozenset(folders),
        loose=tuple(name for name in ordered if _weight(name) >= _LOOSE),
        whole=tuple(name for name in ordered if _SHORTEST <= _weight(name) < _LOOSE),
        folders={name: tuple(sorted(of, key=lambda folder: (-len(folder), folder))) for name, of in folders.items()},
        spellings={name: tuple(sorted(of)) for name, of in spellings.items()},
        disguises=tuple(
            look_alike(written_as[name], whole=_weight(name) < _LOOSE)
            for name in ordered
            if name in written_as and _weight(name) >= _SHORTEST
        ),
        turned=turn_names(unicodedata.normalize("NFC", name) for name in written_as.values()),
    )


def _known_as(title: str, aliases: Iterable[str]) -> tuple[str, ...]:
    """The aliases, and what else the note's names are written as."""
    names = (title, *aliases)
    return (*names[1:], *(other for name in names for other in other_names(name)))


def _title(path: str) -> str:
    return re.sub(r"(?i)\.md$", "", path.rpartition("/")[2])


def name_form(text: str) -> str:
    """`text` as names are compared: folded, and whatever joins words (space, `%20`, `-`, `_`) one space."""
    return _JOINTS.sub(" ", fold(text)).strip()


def _unaccented(form: str) -> tuple[str, ...]:
    """How people type a name whose letters their keyboard lacks: `zoe muller`, `zoe mueller`; none where it has none.

    Umlauts may be spelled out while other accents are merely left away, so both are done to the whole name.
    """
    plainer = (without_accents(form), without_accents(form.translate(UMLAUTS)))
    return tuple(dict.fromkeys(one for one in plainer if one != form))


def _letters(text: str) -> str:
    """Letters and digits alone, folded."""
    return "".join(filter(str.isalnum, fold(unicodedata.normalize("NFKC", text))))


@lru_cache(maxsize=1 << 14)
def _name_letters(name: str) -> str:
    return _letters(name)


def _endings(folder: str) -> list[str]:
    parts = folder.split("/") if folder else []
    return ["/".join(parts[start:]) for start in range(len(parts))]


def _weight(name: str) -> int:
    """Characters, where one of a script that writes whole words in one counts three."""
    return len(name) + 2 * len(_DENSE.findall(name))


def _spelled(name: str) -> str:
    """An expression for the name as it is, or percent-encoded as links have it."""
    plain = _JOINT.join(re.escape(word) for word in name.split(" "))
    if name.isascii():
        return plain
    encoded = (_encoded(unicodedata.normalize(form, name)) for form in ("NFC", "NFD"))
    return "|".join((plain, *encoded))


def _encoded(name: str) -> str:
    return _JOINT.join(re.escape(quote(word.encode("utf-8", "surrogatepass"), safe="")) for word in name.split(" "))


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])")
