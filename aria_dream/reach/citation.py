"""What an answer of a reach names: web addresses in one spelling, without what tracks a reader, titles; and notes.

Text of an answer never acts. It names notes by their numbers in the request, or by their titles letter for letter;
nothing else it says can name a note, so no answer reaches one that was not sent.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urljoin, urlsplit

from aria_dream.judging.prompt_text import harmless_text
from aria_dream.notes.plain_text import clean
from aria_dream.vault.names import fold_path

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_URL = 2_000
LONGEST_TITLE = 200

_URL = re.compile(r"\bhttps?://[^\s<>\"'`|\\^{}‹›«»“”]+", re.IGNORECASE)
_TRACKING = re.compile(
    r"(?:utm_\w*|[a-z]{0,4}clid|gclsrc|gbraid|wbraid|_ga|_gl|mc_[ce]id|mkt_tok|igshid?|_hs(?:enc|mi|tr)|hsa_\w*|vero_(?:id|conv)"
    r"|oly_(?:anon|enc)_id|li_fat_id|ref_src|ref_url|s_cid|cmpid|spm|pk_(?:campaign|kwd|source|medium)"
    r"|mtm_\w*|matomo_\w*|at_(?:campaign|medium|custom\d?)|wt_?mc(?:_\w*)?|ga_\w*|yclid|openai_\w*|msclkid|s_kwcid"
    r"|_openstat|mibextid|rdt_cid|sc_cid|ir(?:clickid|gwc)|_branch_match_id|ck_subscriber_id|trkcampaign|trackingid|epik"
    r"|wickedid|_bta_(?:tid|c)|srsltid|gad_\w*|sfmc_id|dm_i|piwik_\w*|itm_\w*|share_?id|hmb_\w*|fb_\w*|oft_\w*)",
    re.IGNORECASE,
)
"""Query parameters that say who sent a reader and never what is read."""
_HOST = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])")
_INDOORS = (".local", ".internal", ".localhost", ".localdomain", ".lan", ".home", ".home.arpa", ".corp", ".intranet")
"""Endings of names that mean something only inside somebody's network."""
_SAFE = "%/:@!$&'()*+,;=~-._?"
_PORTS = {"http": 80, "https": 443}
_MARKED_LINK = re.compile(
    r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(\s*<?(https?://(?:[^\s<>()]|\([^\s<>()]*\))+)>?(?:\s+\"[^\"]*\")?\s*\)",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"(?:none|nothing|n/?a|null|empty|unknown|[-–—]+|no (?:\w+ )?sources?)?"
    r"(?: (?:was|were|is|are|at all|found|cited|available|given|used|needed|consulted|opened|listed|applicable))*[.!]?"
    r"|\(?from (?:my )?memory\b.*"
    r"|(?:my |the )?(?:own|general|prior|personal|model'?s?) knowledge[.!]?|training data[.!]?"
    r"|(?:keine[rs]?|nichts|ohne|aucune?|ninguna?|nada|nessuna?|niente|nenhuma?|geen|inga|ingen|brak|žádné|нет|なし|无|無)"
    r"(?: (?:quellen?|gefunden|vorhanden|angegeben|sources?|trouvée?s?|fuentes?|fonti|fontes?|bronnen|källor|źródeł))*"
    r"[.!。]?"
    r"|\(?(?:there (?:is|are|was|were) no|no|not any|none of (?:the|my))\b(?: [\w'’-]+){0,6}"
    r" (?:sources?|pages?|urls?|links?|results?|references?|citations?)"
    r"(?:[.!)]*| (?:was|were|is|are|could|found|available|cited|that|for|in my|from my)\b.*)"
    r"|\(?i (?:could|did|was|have|had|can|do|am)(?: ?n[o'’]t| unable| never)\b.*"
    r"\b(?:open|find|found|access|search|verif|reach|locat|brows|cit|consult|retriev|look)\w*\b.*"
    r"|i found (?:no|nothing)\b.*"
    r"|\(?aus (?:dem|meinem) (?:gedächtnis|wissen)\b.*|\(?(?:de mémoire|de memoria)\b.*",
    re.IGNORECASE,
)
"""What a list says that holds no source, in the words models use for it."""
_NO_PAGE = re.compile(
    r"\b(?:javascript|data|file|vbscript|ftp|blob|about|app|obsidian|chrome|mailto|tel):\S", re.IGNORECASE
)
"""An address of something that is no page of the web."""
_CITED = re.compile(
    r" ?(?:\ue200[^\ue200\ue201]{0,200}\ue201|【[^【】]{0,100}†[^【】]{0,100}】"
    r"|\b(?:(?:file)?cite)?turn\d{1,4}[a-z]{2,12}\d{1,4}(?:turn\d{1,4}[a-z]{2,12}\d{1,4})*\b|[\ue000-\uf8ff])"
)
"""Marks that a model with a search tool leaves for a chat window, which makes links of them."""
_MAIL = re.compile(r"(?:mailto:)?[^\s@<>()]{1,64}@[^\s@<>()]{1,255}\.[^\s@<>()]{1,63}", re.IGNORECASE)
_SCHEME = re.compile(
    r"\b[a-z][a-z0-9+.-]{0,20}://(?:www\.)?|\bwww\.(?=\w)|\b(?:data|javascript|file|mailto):(?=\S)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One source that a model named. Nobody has looked at it."""

    url: str
    """As `normal_url` gives it; `""` where only a title was given."""
    title: str
    """One line; `""` where only the address was given."""


def normal_url(text: str) -> str:
    """The address in one spelling: lower-case host, in ASCII where it is not; no tracking, user name or default port.

    `""` for what is no address of a public page: other schemes, a name without a dot, a user name in front (which
    makes one host look like another), an address of this or a private network, more than `LONGEST_URL` characters.
    """
    try:
        parts = urlsplit(harmless_text(text).strip().replace("&amp;", "&"))
        scheme, port = parts.scheme.lower(), parts.port
        host = _ascii_host(parts.hostname or "")
    except ValueError:  # a broken port, bracket or name
        return ""
    if scheme not in _PORTS or not host or "@" in parts.netloc:
        return ""
    netloc = host if port in (None, _PORTS[scheme]) else f"{host}:{port}"
    query, fragment = _untracked(parts.query), _untracked(parts.fragment.partition(":~:")[0])
    url = urljoin(f"{scheme}://{netloc}/", _quoted("/" + parts.path.lstrip("/")))
    url += f"?{_quoted(query)}" if query else ""
    url += f"#{_quoted(fragment)}" if fragment else ""
    return url if len(url) <= LONGEST_URL else ""


def _ascii_host(host: str) -> str:
    name = host.rstrip(".").encode("idna").decode("ascii").lower()
    try:
        return name if ipaddress.ip_address(name).is_global and ":" not in name else ""
    except ValueError:
        return name if _HOST.fullmatch(name) and not name.endswith(_INDOORS) else ""


def _untracked(fields: str) -> str:
    """A query or a fragment without the fields that track a reader, however the others are joined."""
    kept = ""
    for joint, field in re.findall(r"([&;?]*)([^&;?]+)", fields):
        if _TRACKING.fullmatch(unquote(field.partition("=")[0])) is None:
            kept += f"{joint[:1]}{field}" if kept else field
    return kept


def _quoted(text: str) -> str:
    broken = re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", text)
    return quote(broken, safe=_SAFE)


def parse_source(line: str) -> Source | None:
    """The source that a line of a list names, its bullet already gone; None where it names none, or says so."""
    text = harmless_text(without_marks(line).replace("<", " ").replace(">", " "))[: 2 * LONGEST_URL]
    marked = _MARKED_LINK.search(text)
    found = None if marked else _URL.search(text)
    raw = marked[2] if marked else _trimmed(found[0]) if found else ""
    url = normal_url(raw)
    rest = text.replace(marked[0], f" {marked[1]} ") if marked else text.replace(raw, " ") if raw else text
    title = _title(rest)
    if not url and (raw or _NO_PAGE.search(text) or _NOTHING.fullmatch(title)):
        return None  # an address that is none is no title either
    return Source(url=url, title="" if _NOTHING.fullmatch(title) else title)


def without_marks(text: str) -> str:
    """`text` without what is meant for a chat window: `citeturn0search1`, `【4†source】`, private characters."""
    return _CITED.sub("", text)


def _title(text: str) -> str:
    bare = re.sub(r"\*\*|__|`|\A\s*\[\^?[\w-]{1,16}\]:?(?!\()|!?\[\s*\]|\(\s*\)|!(?=\s|\Z)", " ", text)
    title = clean(inert(bare)).strip(' -–—:;,|*_"“”')
    if title.startswith("(") and title.endswith(")"):
        title = title[1:-1].strip()
    return title if len(title) <= LONGEST_TITLE else clean(title[: LONGEST_TITLE - 1]) + "…"


def _trimmed(url: str) -> str:
    """`url` without the punctuation of the sentence it stands in; a bracket that it opened itself stays."""
    while url:
        opener = {")": "(", "]": "["}.get(url[-1])
        if url[-1] not in ".,;:!?*_" and (opener is None or url.count(url[-1]) <= url.count(opener)):
            break
        url = url[:-1]
    return url


def inert(text: str) -> str:
    """`text` with nothing in it that a reader of Markdown makes clickable: addresses lose their scheme, mail is `…`.

    Escaping is not done here. Idempotent.
    """
    before = ""
    while before != text:
        before, text = text, _SCHEME.sub("", _MAIL.sub("…", text))
    return text


MOST_OFFERED = 8
"""Notes that a request lists."""
_AND = r"\s*(?:(?:,|;|&|\+|/|↔|→|-|–|—|<->|->|and|und|et|y|e|en|i|и|和)\s*)+"
_NUMBER = r"(?:no\.? ?|#|\[|\()?(\d{1,3})[\])]?"
_LEAD = re.compile(r"[*_ #>-]*(?:the )?notes?[*_ ]*[:=][*_ ]*", re.IGNORECASE)
_LONGEST = 600
"""Characters of a line that names notes."""
_NUMBERS = re.compile(rf"{_NUMBER}(?:{_AND}{_NUMBER})*", re.IGNORECASE)


def is_notes_line(line: str) -> bool:
    """Whether a line of an answer does nothing but name notes by number."""
    return _NUMBERS.fullmatch(_said(line)) is not None


def find_named_notes(answer: str, titles: Sequence[str]) -> tuple[int, ...]:
    """The places in `titles` that the answer's `Notes:` line names, at most two, in its order.

    `()` where there is no such line, where one names more, or where anything in it is none of `titles`. Of two lines
    the first that names something counts.
    """
    for line in answer.splitlines():
        said = " ".join(_said(line).split())
        if said and (places := _by_number(said, len(titles)) or _by_title(said, titles)):
            return places
    return ()


def _said(line: str) -> str:
    """What the line names behind its `Notes:`; `""` where it has none."""
    found = _LEAD.match(line) if len(line) <= _LONGEST else None
    return line[found.end() :].rstrip("*_ .") if found is not None else ""


def _by_number(said: str, count: int) -> tuple[int, ...]:
    if _NUMBERS.fullmatch(said) is None:
        return ()
    places = tuple(dict.fromkeys(int(number) - 1 for number in re.findall(r"\d+", said)))
    return places if len(places) <= 2 and all(0 <= place < count for place in places) else ()


def _by_title(said: str, titles: Sequence[str]) -> tuple[int, ...]:
    """Whole titles only: that one occurs in what is said names nothing."""
    forms = [fold_path(" ".join(title.split())) for title in titles]
    if any(not form or forms.count(form) > 1 for form in forms):
        return ()
    text = fold_path(re.sub(r"\[\[|\]\]|[\"“”„«»]", "", said)).strip()
    for first, form in enumerate(forms):
        if text == form:
            return (first,)
        if text.startswith(form):
            rest = re.fullmatch(rf"{_AND}(?P<other>.+)", text[len(form) :])
            if rest is not None and rest["other"] in forms:
                return tuple(dict.fromkeys((first, forms.index(rest["other"]))))
    return ()


def home_of(answer: str, titles: Sequence[str]) -> tuple[int, int] | str:
    """The two of the listed notes that the edge of a seed's answer connects, as places in `titles`; or why there are
    none, as one clause for the writer.

    Where the request listed two and the answer names none, those are meant.
    """
    if not titles:
        return "the seed names no note of yours, and a link needs two; name them by wikilink under `resonance`"
    if len(titles) == 1:
        return "the seed names only one note of yours, and a link needs two; name the other by wikilink as well"
    named = find_named_notes(answer, titles)
    if len(named) == 2:
        return named[0], named[1]
    if len(titles) == 2 and not named:
        return 0, 1
    if named:
        return f"the answer connects the seed with one note of yours, “{titles[named[0]]}”, and a link needs two"
    return "the answer does not say which two of the notes that the seed names it connects"
