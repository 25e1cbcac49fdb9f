"""What a Japanese sentence denies, and the end of its predicate, which says how and not what.

The script writes no spaces and puts the denial last: 食べる, 食べない, 食べません. What stands before the ending is the
same, so that is what two claims are compared by.
"""

from __future__ import annotations

import re
from typing import Final

_KANA: Final = re.compile(r"[\u3041-\u309f]")
_STEM: Final = re.compile(r"[\u30a1-\u30ff\u3400-\u9fff々〆0-9A-Za-z]")
_NO_DENIAL: Final = re.compile(
    r"(?:少|危|申し訳|間違い|違い|もったい|つまら|くだら|とんでも|ほか)ない|(?:仕|頼り|素っ気|何気|さり気|限り|切|汚|幼|拙|儚)ない"
    r"|(?:なければ|なくては|ないと|なくちゃ)(?:なら|いけ|だめ|駄目)(?:ない|ません|なかった)?|しか(?:い|あり)?(?:ない|ません)"
    r"|わけに(?:は)?いか(?:ない|ません)|ざるを得(?:ない|ません)|に過ぎ(?:ない|ません)|にすぎ(?:ない|ません)|だけでは?なく|のみなら?ず"
    r"|では?ないか|じゃないか|ませんか|なければ|ないで|ないうち|なさい"
)
"""必 must, only, no more than, isn't it: they say ない and deny nothing, or not what they say."""
_DENIAL: Final = re.compile(r"(?:ない(?!が?し)|なかった|ません|なくて|なく(?=[、。]|$)|無い|ぬ(?=。|$)|せず|ずに)")
_ENDING: Final = re.compile(
    r"(?:(?:では|じゃ|で)?(?:ありませんでした|ありません|ありました|あります|なかった|ない|あった|ある|無い)"
    r"|(?<=[がはもに])い(?:ませんでした|ません|ました|ます|なかった|ない|る|た)"
    r"|(?:[てで])(?:い)?(?:ませんでした|ません|ました|ます|なかった|ない|る|た)"
    r"|(?:ませんでした|ません|ました|ます|なかった|ない)|でした|です|である|だった|だ|のだ|のです)$"
)
_CLOSE: Final = re.compile(r"[\s。．！!\x00]*$")
_ASKS: Final = re.compile(r"(?:か|かな|かしら|の？)[。？?\s]*$")
_PARTICLES: Final = "はがをにもでとへ"
_LONGEST_INFLECTION: Final = 2
"""Characters of hiragana behind the last other one: 溶ける, 開いた."""
DOUBTS: Final = (
    "かもしれ", "だろう", "でしょう", "らしい", "ようだ", "ようです", "みたいだ", "みたいです", "と思", "と言",
    "という人", "そうです", "そうだ", "はず", "によれば", "によると", "と考え", "たぶん", "おそらく", "多分", "恐らく",
    "もし", "仮に", "としたら", "とすれば", "場合は", "例えば", "たとえば", "と主張", "と批判", "べき", "つもり",
    "予定", "昨日", "今日", "明日", "昨年", "去年", "来年", "先週", "来週", "先月", "来月", "かつて", "当時", "昔",
)  # fmt: skip
"""Words by which a sentence doubts, supposes, quotes or tells of another time."""
SOME: Final = (
    "必ずしも", "とは限ら", "一部", "多く", "すべて", "全て", "全部", "みんな", "あまり", "ことがある", "こともある",
    "しばしば", "時々", "ときどき", "たまに", "ほとんど", "いつも", "よく",
)  # fmt: skip
"""With these a denial denies something else: not all, not always."""


def is_japanese(text: str) -> bool:
    """Whether hiragana stands in it."""
    return not text.isascii() and _KANA.search(text) is not None


def denials(text: str) -> list[int]:
    """Offsets behind every word that denies. Empty where the sentence is not Japanese."""
    if not is_japanese(text):
        return []
    plain = _NO_DENIAL.sub(lambda found: "　" * len(found[0]), text)
    return [found.end() for found in _DENIAL.finditer(plain)]


def asks(text: str) -> bool:
    """Whether it ends as a question does."""
    return is_japanese(text) and _ASKS.search(text) is not None


def without_ending(text: str) -> str:
    """`text`, the same length, the ending of its predicate blanked: whether, when and how politely, not what. Itself
    where the sentence is not Japanese or its predicate is written in hiragana alone."""
    if not is_japanese(text):
        return text
    end = _CLOSE.search(text)
    stop = end.start() if end else len(text)
    found = _ENDING.search(text[:stop])
    at = found.start() if found else stop
    kana = at
    while kana > 0 and _KANA.match(text[kana - 1]):
        kana -= 1
    rest = text[kana:at]
    is_stem = kana > 0 and _STEM.match(text[kana - 1]) is not None
    if is_stem and len(rest) <= _LONGEST_INFLECTION and not (found is None and rest[:1] in _PARTICLES):
        at = kana
    return text[:at] + " " * (stop - at) + text[stop:]
