"""Words that say how, not what: never named as what two notes have in common.

Only frequent ones (words under four letters are never named), in the languages of the shipped model that write words
with spaces. The vault's own frequencies catch the rest.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from aria_dream.words import LANGUAGES, language_words

if TYPE_CHECKING:
    from collections.abc import Iterable


@cache
def function_words(*languages: str | None) -> frozenset[str]:
    """The function words of four letters and more of these languages; of all, where none is known of one of them."""
    known = [code for code in languages if code is not None and code in LANGUAGES]
    codes = known if known and len(known) == len(languages) else LANGUAGES
    return frozenset().union(*(language_words(code).function for code in codes))


# Chinese is written without spaces, so there it is characters: those that part words wherever they stand, those that
# hang on to the word before or after them, and words of two and three that say how and not what.
_PARTING: Final = frozenset(
    "的了是們们這这那哪嗎吗呢吧啊也很都就與与及或而但且被把我你您他她它誰谁麼么沒没在則则若卻却並并雖虽該该此其之"
)
_HANGING_BEFORE: Final = frozenset(
    "以將将於于從从對对讓让給给再又才更最每各個个一不有到要會会可能用由因為为所使等和"
    "跟當当"
)
_HANGING_AFTER: Final = frozenset(
    "以將将於于從从對对讓让給给再又才更最每各個个一不到要可等和跟著着過过得地時时後后"
    "前上下中裡里內内來来去"
)
_CHINESE: Final = """
    可以 可能 能夠 能够 應該 应该 必須 必须 需要 如果 如何 因為 因为 因此 所以 雖然 虽然 然後
    然后 以及 以上 以下 以後 以后 以前 之後 之后 之前 其他 其實 其实 其中 任何 一些 一個 一个
    一下 一樣 一样 一定 一般 一起 一次 一種 一种 第一 第二 這樣 这样 那樣 那样 什麼 什么 怎麼
    怎么 為什 为什 所有 每個 每个 各種 各种 不同 不過 不过 不會 不会 不能 不要 還有 还有 只有
    只是 只要 已經 已经 正在 現在 现在 時候 时候 時間 时间 開始 开始 最後 最后 最近 非常 比較
    比较 更多 很多 許多 许多 對於 对于 關於 关于 由於 由于 根據 根据 通過 通过 透過 透过 使用
    進行 进行 提供 包括 例如 比如 以便 目前 直接 或者 並且 并且 而且 但是 無法 无法 沒有 没有
    有些 有時 有时 成為 成为 作為 作为 大概 找到 方式 可用 來自 来自 來說 来说 方法 問題 问题
    情況 情况 部分 內容 内容 更加 仍然 其餘 其余 甚至 完全 特別 特别 事情 東西 东西 地方
"""
_CHINESE_FUNCTION_WORDS: Final = frozenset(_CHINESE.split())


def divides(character: str) -> bool:
    """Whether a Chinese character joins words, so that a word ends before it."""
    return character in _PARTING or character in _HANGING_AFTER or character in _HANGING_BEFORE


def split_at_function_words(run: str) -> list[str]:
    """The parts of a run of Chinese characters between those that only join words."""
    joined = "".join(" " if character in _PARTING else character for character in run)
    return joined.split()


def trim_word(piece: str) -> str:
    """`piece` without what hangs on to its ends; `""` where nothing worth naming is left."""
    if piece in _CHINESE_FUNCTION_WORDS:
        return ""
    start, end = 0, len(piece)
    while start < end and piece[start] in _HANGING_BEFORE:
        start += 1
    while end > start and piece[end - 1] in _HANGING_AFTER:
        end -= 1
    rest = piece[start:end]
    return rest if len(rest) >= 2 and rest not in _CHINESE_FUNCTION_WORDS else ""


_LEAST_HITS: Final = 2


@cache
def _telling_words() -> dict[str, frozenset[str]]:
    """The words of each language that no other one has, in this sense or in another."""
    every = {code: language_words(code).function | language_words(code).short for code in LANGUAGES}
    return {
        code: words.difference(language_words(code).homographs, *(every[other] for other in every if other != code))
        for code, words in every.items()
    }


def language_of(words: Iterable[str]) -> str | None:
    """Which of the listed languages folded `words` are written in; None where too few tell, or two as much."""
    seen = list(words)
    hits = {language: sum(word in telling for word in seen) for language, telling in _telling_words().items()}
    best, second = sorted(hits, key=lambda language: (-hits[language], language))[:2]
    if hits[best] == hits[second]:
        return None
    return best if hits[best] >= _LEAST_HITS else None
