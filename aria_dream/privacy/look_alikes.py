"""A private name in look-alike spelling: what a reader takes for it, though no letter of it needs to be the same.

After Unicode Technical Standard #39 (skeletons), for names that are written in Latin letters, digits, or another script
into which a Latin letter was slipped: letters of other scripts that look like Latin ones, full-width and mathematical
letters, small capitals, ligatures, marks stacked on letters, and the strokes `l`, `1`, `I` and `|`. Where it would
blank ordinary words two things that look alike stay two: `rn` and `m`, `vv` and `w`, `i` and `l` within a word.
Letters without their accents are here as well, as people type them whose keyboard lacks them.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_ALIKE: Final = {
    "2": "\u01a7\u03e8\u14bf\ua644\ua6ef\ua75a",
    "3": "\u01b7\u021c\u0417\u04e0\u2ccc\ua76a\ua7ab\U000118ca\U00016f3b\U0001d206",
    "4": "\u13ce\U000118af",
    "5": "\u01bc\U000118bb",
    "6": "\u0431\u13ee\u2cd2\U000118d5",
    "7": "\U000104d2\U000118c6\U0001d212",
    "8": "\u0222\u0223\u09ea\u0a6a\u0b03\U0001031a\U0001e8cb",
    "9": "\u09ed\u0a67\u0b68\u0d6d\u2cca\ua76e\U000118ac\U000118cc\U000118d6",
    "A": "\u0391\u0410\u13aa\u15c5\ua4ee\U000102a0\U00016f40",
    "B": "\u0392\u0412\u13f4\u15f7\ua4d0\ua7b4\U00010282\U000102a1\U00010301",
    "C": "\u03f9\u0421\u13df\u2ca4\ua4da\U000102a2\U00010302\U00010415\U0001051c\U000118e9\U000118f2"
         "\U0001f74c",
    "D": "\u13a0\u15de\u15ea\ua4d3",
    "E": "\u0395\u0415\u13ac\u22ff\u2d39\ua4f0\U00010286\U000118a6\U000118ae",
    "F": "\u03dc\u15b4\ua4dd\ua798\U00010287\U000102a5\U00010525\U000118a2\U000118c2\U0001d213",
    "G": "\u050c\u13c0\u13f3\ua4d6",
    "H": "\u0397\u041d\u13bb\u157c\u2c8e\ua4e7\U000102cf",
    "J": "\u037f\u0408\u13ab\u148d\ua4d9\ua7b2",
    "K": "\u039a\u041a\u13e6\u16d5\u2c94\ua4d7\U00010518",
    "L": "\u13de\u14aa\u2cd0\ua4e1\U0001041b\U00010526\U000118a3\U000118b2\U00016f16\U0001d22a",
    "M": "\u039c\u03fa\u041c\u13b7\u15f0\u16d6\u2c98\ua4df\U000102b0\U00010311",
    "N": "\u039d\u2c9a\ua4e0\U00010513",
    "O": "\u039f\u041e\u0555\u07c0\u09e6\u0b20\u0b66\u12d0\u2c9e\u2d54\u3007\ua4f3\U00010292"
         "\U000102ab\U00010404\U000104c2\U00010516\U000114d0\U000118b5\U000118e0",
    "P": "\u03a1\u0420\u13e2\u146d\u2ca2\ua4d1\U00010295",
    "Q": "\u2d55",
    "R": "\u01a6\u13a1\u13d2\u1587\ua4e3\U000104b4\U00016f35\U0001d216",
    "S": "\u0405\u054f\u13d5\u13da\ua4e2\U00010296\U00010420\U00016f3a",
    "T": "\u03a4\u0422\u13a2\u22a4\u27d9\u2ca6\ua4d4\U00010297\U000102b1\U00010315\U000118bc"
         "\U00016f0a\U0001f768",
    "U": "\u054d\u1200\u144c\u222a\u22c3\ua4f4\U000104ce\U000118b8\U00016f42",
    "V": "\u0474\u0667\u06f7\u13d9\u142f\u2d38\ua4e6\ua6df\U0001051d\U000118a0\U00016f08\U0001d20d",
    "W": "\u051c\u13b3\u13d4\ua4ea\U000118e6\U000118ef",
    "X": "\u03a7\u0425\u166d\u16b7\u2573\u2cac\u2d5d\ua4eb\ua7b3\U00010290\U000102b4\U00010317"
         "\U00010322\U00010527\U000118ec",
    "Y": "\u03a5\u0423\u04ae\u13a9\u13bd\u2ca8\ua4ec\U000102b2\U000118a4\U00016f43",
    "Z": "\u0396\u13c3\ua4dc\U000102f5\U000118a9\U000118e5",
    "a": "\u0251\u03b1\u0430\u237a",
    "b": "\u0184\u042c\u0432\u13cf\u1472\u15af",
    "c": "\u03f2\u0441\u1d04\u2ca5\uabaf\U0001043d",
    "d": "\u0501\u13e7\u146f\ua4d2",
    "e": "\u0435\u04bd\u212e\uab32",
    "f": "\u0584\u1e9d\ua799\uab35",
    "g": "\u018d\u0261\u0581\u1d83",
    "h": "\u043d\u04bb\u0570\u13c2",
    "i": "\u02db\u037a\u0131\u0269\u026a\u03b9\u0456\u04cf\u13a5\u2373\ua647\uab75\U000118c3",
    "j": "\u03f3\u0458",
    "k": "\u03ba\u043a",
    "|": "\u0196\u01c0\u0399\u0406\u04c0\u05c0\u05d5\u05df\u0627\u0661\u06f1\u07ca\u16c1\u2223"
         "\u23fd\u2c92\u2d4f\ua4f2\U0001028a\U00010309\U00010320\U00016f28\U0001e8c7",
    "m": "\u043c",
    "n": "\u043f\u0578\u057c",
    "o": "\u03bf\u03c3\u043e\u0585\u05e1\u0647\u0665\u06be\u06c1\u06d5\u06f5\u0966\u0a66\u0ae6"
         "\u0be6\u0c02\u0c66\u0c82\u0ce6\u0d02\u0d20\u0d66\u0d82\u0e50\u0ed0\u101d\u1040\u10ff"
         "\u1d0f\u1d11\u2c9f\uab3d\U0001042c\U000104ea\U000118c8\U000118d7",
    "p": "\u03c1\u0440\u2374\u2ca3",
    "q": "\u051b\u0563\u0566",
    "r": "\u0433\u1d26\u2c85\uab47\uab48\uab81",
    "s": "\u01bd\u0455\ua731\uabaa\U00010448\U000118c1",
    "t": "\u03c4\u0442",
    "u": "\u028b\u03c5\u057d\u1d1c\ua79f\uab4e\uab52\U000104f6\U000118d8",
    "v": "\u03bd\u0475\u05d8\u1d20\u2228\u22c1\uaba9\U00011706\U000118c0",
    "w": "\u026f\u0461\u051d\u0561\u1d21\uab83\U0001170a\U0001170e\U0001170f",
    "x": "\u00d7\u0445\u1541\u157d\u166e\u292b\u292c\u2a2f",
    "y": "\u0263\u028f\u03b3\u0443\u04af\u10e7\u1d8c\u1eff\uab5a\U000118dc",
    "z": "\u1d22\uab93\U000118c4",
}
"""Characters that look like an ASCII one, without those that compatibility decomposition makes one: the single ones of
TS #39's confusables, and the small Cyrillic and Greek letters whose capitals are among them. `|` is any stroke but the
real one, which parts the cells of a table."""
_BAR: Final = "¦"
"""The face of a real `|`."""
_PLAIN: Final = {ord(alike): plain for plain, many in _ALIKE.items() for alike in many}
_NAMED = re.compile(
    r"(?:LATIN LETTER SMALL CAPITAL|REGIONAL INDICATOR SYMBOL LETTER|NEGATIVE (?:CIRCLED|SQUARED) LATIN CAPITAL LETTER)"
    r" (?P<letter>[A-Z])|LATIN (?:SMALL|CAPITAL) LETTER (?P<marked>[A-Z]) WITH [A-Z ]+"
)
_MARK = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]")
"""What is stacked on Latin, Greek and Cyrillic letters; the marks of other scripts are letters of their own."""
_JOINT = r"(?:%20|&nbsp;|[\s_+\-\u2010-\u2015*~=`\\])+"
_JOINTS = re.compile(_JOINT)


class _Faces(dict[int, str]):
    """What each character looks like, for `str.translate`, kept as it is met."""

    def __init__(self, *, bare: bool) -> None:
        super().__init__()
        self._bare = bare

    def __missing__(self, code: int) -> str:
        face = self[code] = _face(chr(code), bare=self._bare)
        return face


def _face(character: str, *, bare: bool) -> str:
    """What `character` looks like: lower-case but for `I`, which is a stroke, and without marks; with `bare` without
    the accents that make it a letter of its own (`é`, `ø`) as well."""
    if character.isascii():
        return character if character == "I" else _BAR if character == "|" else character.lower()
    if _MARK.match(character) or unicodedata.category(character) == "Cf":
        return ""
    apart = _PLAIN.get(ord(character)) or unicodedata.normalize("NFKD", character)
    marked = len(apart) > 1 and _MARK.match(apart[1]) is not None
    if marked and not bare and unicodedata.normalize("NFC", character) == character:
        return character.lower()
    found = "".join(_letter(one, bare=bare) for one in apart if not _MARK.match(one))
    return found if found.isascii() else unicodedata.normalize("NFC", found)


def _letter(character: str, *, bare: bool) -> str:
    alike = _PLAIN.get(ord(character), character)
    if alike.isascii():
        return alike if alike == "I" else alike.lower()
    named = _NAMED.fullmatch(unicodedata.name(alike, ""))
    letter = named and (named["letter"] or (named["marked"] if bare else None))
    return letter.lower() if letter else alike.lower()


_KEPT: Final = _Faces(bare=False)
_BARE: Final = _Faces(bare=True)
_ONE_FORM: Final = str.maketrans({**dict.fromkeys(f"iI1|{_BAR}", "l"), "0": "o"})


@dataclass(frozen=True, slots=True)
class LookAlike:
    """A name as it may be disguised. `look_alike` makes it."""

    trace: str
    """Every stroke and `i` one letter, `0` an `o`, every joint one space: where a text's trace lacks this, the name is
    not there."""
    letters: str
    """The trace's letters and digits alone."""
    whole: bool
    """Short: found as a word of its own only, and only where something in it is out of the ordinary."""
    expression: str
    """What it is in the faces of a text; compiled where the trace is there."""
    digits: bool
    """Whether a digit may stand for a letter: a short name like `Al` would else be every `A1`."""


def look_alike(name: str, *, whole: bool) -> LookAlike:
    """How `name`, a title or an alias as it is written, may be disguised."""
    faces = name.translate(_faces(whole=whole))
    words = [word for word in _JOINTS.split(faces) if word]
    pattern = _JOINT.join(_spelled(word, whole=whole) for word in words)
    edges = (r"(?<![^\W_])", r"(?![^\W_])") if whole else ("", "")
    trace = " ".join(words).translate(_ONE_FORM).casefold()
    return LookAlike(
        trace=trace,
        letters="".join(filter(str.isalnum, trace)),
        whole=whole,
        expression=f"{edges[0]}{pattern}{edges[1]}",
        digits=sum(map(len, words)) >= 3,
    )


def _spelled(word: str, *, whole: bool) -> str:
    """An expression for a word of a name. A number is written in its own digits."""
    if word.isdigit():
        return re.escape(word)
    bar = "" if whole else _BAR
    return "".join(_class(face, bar, first=not at) for at, face in enumerate(word))


def _class(face: str, bar: str, *, first: bool) -> str:
    """What may stand for one letter of a name. `i` is no `l`, but at the beginning of a word a capital one looks it."""
    if face in "iI":
        return f"[iI1|l{bar}]" if first else f"[iI1|{bar}]"
    if face in f"l1|{_BAR}":
        return f"[lI1|{bar or face}]"
    return "[o0]" if face in "o0" else re.escape(face)


@lru_cache(maxsize=1 << 10)
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def _faces(*, whole: bool) -> _Faces:
    return _KEPT if whole else _BARE


class Looks:
    """A text, and what it looks like."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._traces: dict[bool, tuple[str, str]] = {}

    def spans(self, name: LookAlike) -> Iterator[tuple[int, int]]:
        """Where the text shows the name, as positions in the text, in order."""
        faces, trace = self._trace(whole=name.whole)
        if not name.trace or name.trace not in trace:
            return
        places: list[int] | None = None
        for found in _compiled(name.expression).finditer(faces):
            places = places or self._places(whole=name.whole)
            start, end = places[found.start()], places[found.end() - 1] + 1
            while end < len(self._text) and _MARK.match(self._text[end]):
                end += 1
            if not name.whole or is_disguised(self._text[start:end], digits=name.digits):
                yield start, end

    @cached_property
    def letters(self) -> str:
        """What the text looks like, letters and digits alone."""
        return "".join(filter(str.isalnum, self._trace(whole=False)[1]))

    def _trace(self, *, whole: bool) -> tuple[str, str]:
        if whole not in self._traces:
            faces = self._text.translate(_faces(whole=whole))
            self._traces[whole] = (faces, _JOINTS.sub(" ", faces).translate(_ONE_FORM).casefold())
        return self._traces[whole]

    def _places(self, *, whole: bool) -> list[int]:
        """For each character of the faces the place of the one in the text that it is of."""
        faces = _faces(whole=whole)
        return [place for place, one in enumerate(self._text) for _ in one.translate(faces)]


def is_disguised(written: str, *, digits: bool) -> bool:
    """Whether something in what is written shows that no ordinary word is meant: letters of two scripts in one word, a
    letter that only looks like one, a mark that makes no letter, something unseen, a capital inside a word, a digit in
    it (`digits`)."""
    composed = unicodedata.normalize("NFC", written)
    if _MARK.search(composed) or any(_is_shaped(character) for character in composed):
        return True
    for word in re.findall(r"[^\W_]+", composed):
        letters = "".join(filter(str.isalpha, word))
        if len(set(map(_script, letters))) > 1:
            return True
        if digits and letters and len(letters) < len(word):
            return True
        if not (letters.islower() or letters.isupper() or letters.istitle() or not letters.isascii()):
            return True
    return False


def _is_shaped(character: str) -> bool:
    """Another letter in another shape (full-width, mathematical, a ligature, a small capital), or one unseen."""
    category = unicodedata.category(character)
    if category == "Cf":
        return True
    if character.isascii() or not (character.isalnum() or category == "So"):
        return False
    if unicodedata.normalize("NFKC", character) != character:
        return True
    named = _NAMED.fullmatch(unicodedata.name(character, ""))
    return named is not None and named["letter"] is not None


@lru_cache(maxsize=1 << 12)
def _script(letter: str) -> str:
    return unicodedata.name(letter, "?").split(" ", maxsplit=1)[0]


UMLAUTS = str.maketrans({
    "ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "æ": "ae",
    "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "Å": "Aa", "Ø": "Oe", "Æ": "Ae",
})  # fmt: skip
"""How umlauts are spelled out."""
_NO_ACCENTS = str.maketrans({
    "ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "Ø": "O", "Ł": "L", "Đ": "D", "Æ": "Ae", "Œ": "Oe",
})  # fmt: skip


def without_accents(text: str) -> str:
    """`text` without the marks above and below Latin, Greek and Cyrillic letters."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFD", text.translate(_NO_ACCENTS))
    bare = (one for one, before in zip(apart, " " + apart, strict=False) if not _is_accent(one, before))
    return unicodedata.normalize("NFC", "".join(bare))


def _is_accent(character: str, before: str) -> bool:
    """Marks of other scripts are letters of their own."""
    return "\u0300" <= character <= "\u036f" and before < "\u0530"
