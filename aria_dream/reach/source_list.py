"""The list of sources at the end of an answer: where it begins, whatever the language, and what stands in it."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from aria_dream.reach.citation import Source, parse_source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_SOURCES = 5

_NAMES = (
    "sources?|references?|citations?|bibliography|quellen?|quellenangaben?|belege|literatur|nachweise|fuentes?"
    "|referencias|fonti|fonte|riferimenti|fontes|referências|références?|bronnen|bron|källor|källa|kilder|kjelder|kilde"
    "|lähteet|źródła|źródło|zdroje|zdroj|források|surse|kaynaklar|kaynak|πηγές|источники|источник|джерела|nguồn"
    "|sumber|מקורות|المصادر|स्रोत|出典|参考文献|情報源|来源|來源|参考资料|參考資料|資料來源|출처"
)
"""What such a list is called: the contract says `Sources:`, and a model that answers in the note's language forgets."""
_HEAD = re.compile(
    rf"[#>*_ -]*(?:\d{{1,2}}[.)] )?(?:{_NAMES})(?: (?:consulted|cited|used|opened|checked|found))?(?: ?\(\d+\))? ?[*_]*"
    r"(?:(?P<end>)| ?: ?[*_]* ?(?P<rest>.*))",
    re.IGNORECASE,
)
_LONGEST_HEAD = 4096
_DEFINITION = re.compile(r"\[\^?[\w-]{1,16}\]: ?(?=\S)")
"""How a footnote or a reference link says what it refers to."""
_BULLET = re.compile(
    rf"(?:[-*+•–—]|\(?\d{{1,2}}[.)]|\[\^?\d{{1,2}}\]:?|{_DEFINITION.pattern}) ?(?<= )(?P<text>.*)|[-–—•]"
)
_ADDRESS = re.compile(r"<?https?://", re.IGNORECASE)
_JOINT = re.compile(r"(?: ?[,;|] ?| +(?:and|und|et|y|e|en|och|og) +)(?=<?https?://)", re.IGNORECASE)


def split_sources(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines before the list, and those of the list. Lines come without surrounding space.

    Where no line heads a list, the definitions of footnotes or links that end the text are one.
    """
    for number, line in enumerate(lines):
        found = _HEAD.fullmatch(unicodedata.normalize("NFKC", line)) if len(line) <= _LONGEST_HEAD else None
        if found is not None:
            first = [f"- {found['rest']}"] if found["rest"] else []
            return list(lines[:number]), [*first, *lines[number + 1 :]]
    end = len(lines)
    while end and (not lines[end - 1] or _DEFINITION.match(lines[end - 1])):
        end -= 1
    return list(lines[:end]), list(lines[end:])


def parse_sources(lines: Sequence[str]) -> tuple[Source, ...]:
    """What the lines of the list name, each once, at most `MOST_SOURCES`.

    Without a bullet only an address counts: a closing remark is no title.
    """
    found: dict[Source, None] = {}
    for line in lines:
        bullet = _BULLET.fullmatch(line)
        for item in _items((bullet["text"] or "") if bullet else line):
            source = parse_source(item)
            if source is not None and (bullet is not None or source.url):
                same = any(known.url == source.url and source.url for known in found)
                if not same:
                    found[source] = None
    return tuple(found)[:MOST_SOURCES]


def _items(text: str) -> Iterator[str]:
    """The line, or where it enumerates addresses each of them with what stands before it."""
    at = 0
    for joint in _JOINT.finditer(text):
        if _ADDRESS.search(text, at, joint.start()):
            yield text[at : joint.start()]
            at = joint.end()
    yield text[at:]
