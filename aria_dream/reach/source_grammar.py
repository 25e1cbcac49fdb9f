"""What counts as a source: an address, a DOI, an arXiv or ISBN number, or author and year. Anything else is none.

A work can be found by each of these, and by nothing else that a model writes into its list: not by a mark for a chat
window, its own search, a title alone or the name of a note. A grammar says what an author looks like in scripts with
and without capitals; the words that stand where an author would, and name a way of looking or a kind of text, are one
short list. Not promised: that a work exists, or that one capitalised word before a year is a person.

The list of sources stands at the end of an answer; where it begins is told in any of its languages.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from aria_dream.ranking.days import is_month
from aria_dream.reach.citation import Source, normal_url, parse_source
from aria_dream.vault.names import fold_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_DOI = re.compile(r"(?<![\w.])10\.\d{4,9}/[^\s\"<>]*\w")
_ARXIV = re.compile(
    r"\barxiv\b(?:[^\d\n]{0,24}\d{4}\.\d{4,5}|[:\s]{1,3}[a-z-]{2,12}(?:\.[a-z]{2})?/\d{7})(?:v\d{1,2})?\b",
    re.IGNORECASE,
)
_ISBN = re.compile(r"\bisbn(?:-1[03])?\b[:\s]{0,3}(?P<number>[\d][\d\s‐‑–-]{7,20}[\dX]?)", re.IGNORECASE)
_ISBN_BARE = re.compile(r"(?<![\d-])97[89][-\s]?(?:\d[-\s]?){9}\d(?![\d-])")
_BARE = re.compile(
    r"(?<![\w@./:-])(?P<host>(?:[a-z0-9-]{1,63}\.){1,5}(?P<end>[a-z]{2,18}))(?::\d{1,5})?(?P<path>/\S*)?(?![\w@])",
    re.IGNORECASE,
)
_FILES: Final = _listed("""
    md txt py rs sh js ts pl ps cc so pdf doc docx odt html htm xml json yaml yml toml csv tsv zip png jpg
    jpeg gif svg mp3 mp4 canvas base
""")
"""Endings that a name of a file has as well; such a name is an address only with `www.` before or its scheme."""

_YEAR = re.compile(
    r"(?<![\w./:-])(?:(?:ca?\.|um|vers|около) ?)?"
    r"(?:[1-9]\d{1,3} ?(?:b\. ?c\. ?e?|bce?|v\. ?(?:chr|u\. ?z)|av\. ?j|a\. ?c|до н)\b|"
    r"(?:(?:1\d{3}|20\d{2})/)?(?:1[0-9]{3}|20[0-9]{2})[a-z]?)(?![\d:]|[./-]\d|[^\W\d_]{2})"
    r"(?:\s?[年년])?(?!\s?\d{1,2}\s?[月월])",
    re.IGNORECASE,
)
"""One of two years with a stroke between them, of an edition and of its first one, or one before our era, too."""
_WORD = re.compile(r"[^\s,;&/、，・()\[\]（）]+|[,;&/、，・()\[\]（）]")
_JOINTS: Final = _listed("& , / ; 、 ， ・ and und et y e en och og ja i и та и ve 和 與 与 및 و ו")
_MORE: Final = _listed("""
    al al. alii u u. a a. ua u.a u.a. others andere anderen mitarb mitarb. kolleg. col. cols. colab. др др. ін
    ін. medarb. m.fl. mfl wsp. wsp kol kol. coll. ed ed. eds eds. hg hg. hrsg hrsg. éd. dir. coord. red. red
    jr jr. sr sr. ii iii iv ら 他 ほか 等 等人 외 وآخرون ואח׳
""")
"""What says that there are more authors, or what they did."""
_PARTICLES: Final = _listed("""
    van von vom zu zur zum der den de del della delle dei degli di da das do dos du des d la le les el al bin
    ibn ben bint ter ten te 't af av à von-der
""")
_STEMS = re.compile(
    r"search|recherch|such(?:e|en|maschine)$|googl|wikip|internet|^web(?!er|b|ste)|website|webse?it|quer(?:y|ies)|brows"
    r"|chatgpt|openai|perplexit|duckduck|^knowledge|wissen$|connaissanc|conocimient|conoscenz|conheciment|поиск|пошук"
    r"|источник|знани|интернет|搜|检索|檢索|検索|网|網|ウェブ|サイト|资料|資料|知识|知識|访问|訪問|アクセス|取得|自分|自己"
    r"|来源|來源|出典|검색|웹|자료|지식|출처|بحث|مصدر|חיפוש|מקור", re.IGNORECASE
)
_NO_AUTHORS: Final = _listed("""
    accessed retrieved visited viewed consulted opened checked cited found seen read see via web online link
    links url bing yahoo claude gemini copilot codex gpt llm ai model models assistant tool tools memory
    training data dataset database result results query turn output session conversation chat prompt context
    user system abgerufen abruf zugriff stand gesehen suche consulté consultée vu búsqueda busqueda consultado
    consultada acceso ricerca consultato accesso busca pesquisa acesso acessado zoeken geraadpleegd sökning
    hämtad søgning søk hentet dostęp hledání arama erişim доступ обращения просмотрено
    source sources reference references page pages site sites note notes vault title titles author authors
    article articles paper papers report reports document documents book books survey review post blog news
    version edition volume vol chapter figure table section summary draft unknown anonymous copyright
    published updated posted dated seite seiten quelle quellen artikel bericht buch ausgabe notiz notizen
    titel livre página paginas páginas sitio fuente fuentes artículo libro nota notas pagina pagine sito fonte
    fonti articolo bron bronnen källa källor kilde kilder strona źródło stránka sayfa страница страницы сайт
    статья книга заметка
    the an my our your his her its this that these those of on in at by for from to with or own personal
    general common various multiple several different many other some any all more no new latest recent ein
    eine mein meine unser eigene eigenes eigener verschiedene diverse mehrere allgemeines un une mon ma mes
    notre divers diverses plusieurs una mi mis varios varias propio propia mio mia vari varie vários várias
""")
"""Words that stand before a year where an author would: how something was found, what it is, whose it is."""
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af々]+")
_MOST_CJK = 6
_SPLITS_CJK = re.compile(r"[·•・と和與与及、]|및")
_OPENERS: Final = _listed("by von par por da di door av af от від see cf cf. vgl. siehe voir véase vedi zie in")
"""Words behind which an author may begin in the middle of a line."""
_ENDS = re.compile(r"[.:;—–(\[（“”„«»\"|,]\Z")
_BEHIND_NAMES = re.compile(r"[,:.](?=\s)|[，：]|(?=[『「《])")
_AROUND_YEAR: Final = ",.;:()[]（），。—–』」》"
_QUOTES: Final = '“”"„«*_『「《'
_NOT_THE_NAME = re.compile(r"\.md\b.*|[|#].*")
"""What may follow the name of a note in a link: its ending, a heading, another wording."""
_MOST_TOKENS = 24


def is_source(source: Source) -> bool:
    """Whether somebody could find what the model named."""
    return bool(source.url) or is_source_text(source.title)


def name_key(name: str) -> str:
    """The words of a note's name, however it is spelled, quoted or linked."""
    return " ".join(re.findall(r"\w+", fold_path(_NOT_THE_NAME.sub("", name))))


def without_notes(sources: Iterable[Source], names: Collection[str]) -> tuple[Source, ...]:
    """The sources without those that only name a note of the writer; `names` are `name_key`s of titles and aliases."""
    return tuple(one for one in sources if one.url or name_key(one.title) not in names)


def is_source_text(text: str) -> bool:
    """Whether a line names a work in one of the five ways. `text` is one line, its scheme gone where it had one."""
    return any(check(text) for check in (_has_number, _has_address, _has_author))


def _has_number(text: str) -> bool:
    if _DOI.search(text) or _ARXIV.search(text) or _ISBN_BARE.search(text):
        return True
    isbn = _ISBN.search(text)
    return isbn is not None and len(re.findall(r"[\dXx]", isbn["number"])) in (9, 10, 12, 13)


def _has_address(text: str) -> bool:
    """A public host, and a path or a name that no file has."""
    for found in _BARE.finditer(text):
        is_file = found["end"].lower() in _FILES
        named = found["host"].lower().startswith("www.") or (not is_file and (found["path"] or found["host"].islower()))
        if named and normal_url(f"https://{found[0].rstrip('.,;:!?)')}"):
            return True
    return False


def _has_author(text: str) -> bool:
    for found in _YEAR.finditer(text):
        before = text[: found.start()].rstrip(" \t([（,，、.:—–-")
        if _ends_with_authors(before) or _is_dated_title(text, found):
            return True
    return False


def _ends_with_authors(before: str) -> bool:
    """Whether what stands before a year ends with names, which begin where a name may begin."""
    tokens = _WORD.findall(before)
    for start in range(len(tokens) - 1, max(-1, len(tokens) - 1 - _MOST_TOKENS), -1):
        if not _is_authors(tokens[start:]):
            if not _may_be_part(tokens[start]):
                return False
            continue
        if start == 0 or tokens[start - 1].casefold() in _OPENERS or _ENDS.search(tokens[start - 1]):
            return True
    return False


def _is_dated_title(text: str, year: re.Match[str]) -> bool:
    """`Darwin, On the Origin of Species, 1859`: names, a title that begins as titles do, and the year."""
    before, behind = text[: year.start()].rstrip(), text[year.end() :].lstrip()
    if before[-1:] not in _AROUND_YEAR or behind[:1] not in _AROUND_YEAR:
        return False
    for comma in list(_BEHIND_NAMES.finditer(before))[:6]:
        title = before[comma.end() :].strip()
        begins = title[:1].isupper() or title[:1] in _QUOTES or _CJK.match(title)
        is_title = begins and len(title) > 3 and not is_month(title.strip(" ,.("))
        if is_title and _is_authors(_WORD.findall(before[: comma.start()])):
            return True
    return False


def _is_authors(tokens: list[str]) -> bool:
    """Whether these are names of authors and nothing else, at least one of them written out."""
    if not tokens or tokens[0] in _JOINTS or tokens[-1] in "([（":
        return False
    if any(_is_none(token) for token in tokens):
        return False
    return all(map(_may_be_part, tokens)) and any(map(_is_name, tokens))


def _is_none(token: str) -> bool:
    word = token.casefold().strip(".’'")
    is_listed = word in _NO_AUTHORS and word not in _PARTICLES | _JOINTS | _MORE
    return is_listed or is_month(word) or _STEMS.search(word) is not None


def _may_be_part(token: str) -> bool:
    word = token.casefold()
    return word in _JOINTS or word in _MORE or word in _PARTICLES or _is_initial(token) or _is_name(token)


def _is_initial(token: str) -> bool:
    return re.fullmatch(r"(?:[^\W\d_]\.?-?){1,3}", token) is not None and token[0].isupper()


def _is_name(token: str) -> bool:
    """A word that is capitalised, or of a script without capitals; no digit, no capital after a small letter twice."""
    word = token.strip(".’'‘*_")
    if not re.fullmatch(r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f’'ʼ.-])*", word) or _is_none(word):
        return False
    if _CJK.fullmatch(word):
        return all(0 < len(part) <= _MOST_CJK for part in _SPLITS_CJK.split(word))
    if word.casefold() in _PARTICLES | _JOINTS | _MORE:
        return False
    if word.upper() == word.lower():
        return len(word) > 1
    return len(word) > 1 and word[0].isupper() and not re.search(r"[a-z][A-Z]{2}", word)


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
