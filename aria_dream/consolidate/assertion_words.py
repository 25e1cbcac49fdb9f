"""Words by which a sentence asserts, denies, doubts, asks or quotes; lower case without accents, several languages."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate import japanese
from aria_dream.consolidate.quantities import plain_letters
from aria_dream.words import LANGUAGES, language_words, words_in

if TYPE_CHECKING:
    from collections.abc import Collection


_PLAIN_WORD = re.compile(r"[^\W\d_]+")
_NO_SPACES = re.compile(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Phrases:
    """Words and phrases to be found in a sentence of plain letters. Most sentences are done with one look at a set:
    an expression of a hundred alternatives would be tried at every letter."""

    def __init__(self, *phrases: str) -> None:
        self._words = frozenset(phrase for phrase in phrases if _PLAIN_WORD.fullmatch(phrase))
        longer = [phrase for phrase in phrases if phrase not in self._words]
        spaced = [phrase for phrase in longer if not _NO_SPACES.match(phrase)]
        self._signs = tuple(phrase for phrase in longer if phrase not in spaced)
        self._signs += tuple(word for word in self._words if _NO_SPACES.match(word))
        self._longer = re.compile("|".join(rf"(?:{phrase})(?!\w)" for phrase in spaced) or r"(?!)")
        starts = (re.match(r"[^\W\d_]{1,2}", phrase.replace("(?:", "")) for phrase in spaced)
        self._starts = frozenset(start[0] for start in starts if start)

    def found_in(self, plain: str) -> bool:
        """Whether any of them stands in the sentence, as a word of its own."""
        for word in _PLAIN_WORD.finditer(plain):
            if word[0] in self._words:
                return True
            if word[0][:2] in self._starts and self._longer.match(plain, word.start()):
                return True
        return any(sign in plain for sign in self._signs)


_TELLING: Final = words_in(
    """allow allowed allows ask become begin beginning begins begun brings call called carry cause causes change
    changed check choose close cost create created current decide decided different difficult ends exist exists expect
    explain fall falls fast feel fill find follow form full give given gives good great hand happen happens hear heard
    held help hold holds important include includes increase keep kept kind know known large late learn leave length
    level life list live lives local long lose lost low make makes matter mean means minute mine month morning move
    moves necessary need needs number occur occurs open opened order page pages paid pass people person place places
    plain point problem provide provides put question read ready real reason record remember require required requires
    rest result right room round rule run runs sense separate serve serves sets show shows side simple single size
    slow small sort stand start started starts state stay stays step steps stop stopped story suggest take takes talk
    tell term terms time times total treat turn turns type types understand used useful uses using version versions
    view wait walk want watch week weeks word words work works write writes written wrong year years young"""
)
"""Words that name nothing in a reason, and yet are what a sentence asserts."""


@cache
def small_words(language: str | None) -> frozenset[str]:
    """The words of this language that say how, not what, in plain letters. Where it is not known, those of all
    languages but for what is another word elsewhere: `war`, `son`, `die`."""
    if language is None:
        everywhere = (small_words(code) - language_words(code).homographs for code in LANGUAGES)
        return frozenset().union(*everywhere)
    words = language_words(language)
    return (frozenset(map(plain_letters, words.function)) - _TELLING - {"use"}) | words.short


def language_told(text: str) -> str | None:
    """The language of a passage: that of most of its small words, one of which is no other word elsewhere; None where
    there is none, or two languages have as many."""
    seen = re.findall(r"[^\W\d_]+", plain_letters(text))
    hits: dict[str, int] = {}
    for code, (words, telling) in _written_in().items():
        if not telling.isdisjoint(seen):
            hits[code] = sum(word in words for word in seen)
    best = sorted(hits, key=lambda code: -hits[code])[:2]
    return best[0] if len(best) == 1 or (best and hits[best[0]] > hits[best[1]]) else None


@cache
def _written_in() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """For each language all its small words, and those that tell."""
    found = {}
    for code in LANGUAGES:
        words = language_words(code)
        small = frozenset(map(plain_letters, words.function)) | words.short
        found[code] = small, frozenset(word for word in small - words.homographs if len(word) > 1)
    return found


PRONOUNS: Final = words_in(
    """it they he she this these those there its their he er sie es dies dieser diese dieses hier da il elle ils elles
    c ce cela cette ello ella ellos esto este esta esso essa questo questa lui lei het dit deze hij zij"""
)
"""A sentence that begins so speaks of what was named before: of the note's own subject, as a rule."""
REFERRING: Final = words_in(
    """it they he she them him this that those these such another other others else same there then sie ihn ihm ihnen
    diese diesen dieser dieses solche andere anderen elle ils elles eux celui celle ceux cela ello ella ellos ellas
    aquel aquella ese esa eso lui loro quelli hen hem"""
)
"""Elsewhere in a sentence they stand for what another sentence names."""
ARTICLES: Final = words_in(
    "the our my der die das unser unsere le la les l notre el los las nuestro il lo gli de het ons"
)
SCOPES: Final = words_in(
    """with without for besides including excluding mit ohne fur ausser inklusive avec sans pour outre con sin para
    senza per met zonder voor com sem bez dla"""
)
"""What a sentence that begins so names first is no subject."""

_NOT = words_in(
    """not never no none nobody nothing cannot neither without n't nicht kein keine keinen keinem keiner keines nie
    niemals ohne niemand nichts weder pas jamais aucun aucune rien sans nunca jamas sin ningun ninguna ninguno nadie
    nada tampoco non mai senza nessun nessuna nessuno niet geen nooit zonder nao sem nenhum nenhuma inte aldrig ingen
    utan nigdy bez не нет никогда без"""
)
_NO_DENIAL = re.compile(
    r"\b(?:not only|not just|not least|no doubt|no matter|nothing but|or not|no one but|nicht nur|nicht zuletzt"
    r"|nichts als"
    r"|pas seulement|pas que|no solo|no solamente|non solo|niet alleen|why not|if not)\b"
)
_MAY_DENY = re.compile(
    r"\bn|\bk(?:ein)|ohne|pas\b|jamais|aucun|rien|sans|jamas|sin\b|tampoco|mai\b|senza|geen|zonder|sem\b|inte\b|aldrig"
    r"|ingen|utan|bez\b|\bwe|\bwithout|n['’]t|nt\b|cannot|[不没沒未无無禁]|не|без"
)
_LETTER = r"(?:(?![\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af])[^\W\d_])"
_SIGN = (
    r"(?<!差)不(?!同|仅|僅|过|過|断|斷|但|错|錯|少|久|管|论|論|如|一定|只|止|单|單|妨|料|然|得不)|没|沒"
    r"|未(?!来|來|必)"
)
"""Where no spaces are written, a sign within a run denies."""
_NOT_TOKEN = re.compile(rf"{_LETTER}*n['’]t\b|cannot\b|{_LETTER}+|{_SIGN}|无(?!论)|無(?!論|い)|禁止")


def denials(plain: str) -> list[int]:
    """Offsets behind every word that denies, in a sentence of plain letters. Two halves of `neither … nor` are one."""
    if japanese.is_japanese(plain):
        return japanese.denials(plain)
    if not _MAY_DENY.search(plain):
        return []
    text = _NO_DENIAL.sub(lambda found: " " * len(found[0]), plain)
    found = []
    for token in _NOT_TOKEN.finditer(text):
        word = token[0]
        if word in _NOT or word in _RUN_TOGETHER or word.endswith(("n't", "n’t")) or word[0] in "不没沒未无無禁":
            found.append(token.end())
    return found


_SIGN_IN_RUN = re.compile(_SIGN)


def without_denials(text: str) -> str:
    """`text` without the signs that deny where no spaces are written, so that both sides have the same words."""
    return text if text.isascii() or japanese.is_japanese(text) else _SIGN_IN_RUN.sub("", text)


_RUN_TOGETHER = words_in(
    """cannot dont doesnt didnt isnt arent wasnt werent wont cant shouldnt couldnt wouldnt hasnt havent
    mustnt"""
)

_DOUBT = (
    "maybe", "perhaps", "possibly", "probably", "presumably", "apparently", "allegedly", "supposedly", "reportedly",
    "might", "could", "would", "should i", "seems?", "appears? to", "likely", "unlikely", "rumou?r(?:s|ed)?",
    "unclear", "not sure", "unsure", "i think", "i guess", "i believe", "i wonder", "imo", "imho", "in my opinion",
    "arguably", "suppose", "assum(?:e|es|ing)", "imagine", "pretend", "hypothetical(?:ly)?", "if", "unless",
    "whether", "in case", "what if", "as if", "let's say", "eg", "for example", "for instance", "such as", "example",
    "todo", "tbd", "vielleicht", "moglicherweise", "wahrscheinlich", "vermutlich", "angeblich", "scheint", "falls",
    "wenn", "sofern", "angenommen", "ich glaube", "ich denke", "zum beispiel", "ob", "peut-etre", "probablement",
    "sans doute", "parait", "semble", "pourrait", "serait", "si", "par exemple", "je pense", "quizas?", "tal vez",
    "probablemente", "acaso", "parece", "podria", "seria", "por ejemplo", "creo que", "forse", "probabilmente",
    "sembra", "potrebbe", "per esempio", "misschien", "waarschijnlijk", "talvez", "provavelmente", "可能", "也许",
    "也許", "或许", "或許", "如果", "假如", "大概", "似乎", "好像", "是否", "例如", "比如", "除非", "否则", "应该",
)  # fmt: skip
_SAID = (
    "critics?", "opponents?", "proponents?", "supporters?", "advocates?", "sceptics?", "skeptics?", "detractors?",
    "according to", "claims?", "claimed", "argues?", "argued", "believes?", "believed", "says?", "said", "writes?",
    "wrote", "contends?", "asserts?", "insists?", "maintains that", "suggests?", "objects? that", "holds that",
    "thinks?", "thought", "alleged", "myth", "misconception", "on (?:the )?one hand", "on the other(?: hand)?",
    "by contrast", "in contrast", "some people", "many people", "one side", "the other side", "counter-?argument",
    "objection", "kritiker(?:innen)?", "gegner(?:innen)?", "befurworter(?:innen)?", "laut", "zufolge",
    "behaupte[nt]", "meinen?", "meint", "argumentier(?:t|en)", "einerseits", "andererseits", "sagt", "sagen",
    "selon", "les critiques", "pretend(?:ent)?", "affirm(?:e|ent)", "d'une part", "d'autre part", "dit que", "segun",
    "los criticos", "afirman?", "dicen? que", "por un lado", "por otro lado", "secondo", "sostien[ei]", "sostengono",
    "volgens", "批评者", "批評者", "据说", "據說", "有人", "认为", "認為", "据称", "所谓",
)  # fmt: skip
_THEN = (
    "yesterday", "today", "tonight", "tomorrow", "last (?:week|month|year|night|spring|summer|autumn|winter|time)",
    "this (?:week|month|year|morning|afternoon|evening|time)", "next (?:week|month|year|time)", "ago", "used to",
    "formerly", "previously", "originally", "initially", "at first", "back then", "at (?:that|the) time",
    "in those days", "until recently", "so far", "as of", "gestern", "heute", "morgen",
    "letzte[nsr]? (?:woche|monat|jahr|mal)", "diese[nsr]? (?:woche|monat|jahr)", "fruher", "ehemals", "damals",
    "zuvor", "ursprunglich", "anfangs", "bisher", "aujourd'hui", "demain", "autrefois", "jadis", "auparavant",
    "a l'origine", "ayer", "hoy", "manana", "antes", "anteriormente", "originalmente", "ieri", "oggi", "domani",
    "una volta", "in passato", "gisteren", "vandaag", "vroeger", "昨天", "今天", "明天", "以前", "曾",
)  # fmt: skip
SOME: Final = Phrases(
    "some", "many", "most", "mostly", "few", "often", "sometimes", "usually", "typically", "generally", "rarely",
    "seldom", "tends? to", "partly", "somewhat", "in theory", "in practice", "manche", "einige", "viele",
    "meist(?:ens)?", "oft", "manchmal", "selten", "teilweise", "kaum", "certain(?:s|es)", "souvent", "parfois",
    "rarement", "la plupart", "algunos", "algunas", "muchos", "muchas", "a menudo", "a veces", "raramente", "spesso",
    "talvolta", "alcuni", "vaak", "soms",
    "not (?:all|every|everything|everyone|always|necessarily|entirely|completely|quite|exactly|even)", "sure",
    "nicht (?:alle|jeder|jede|jedes|immer|unbedingt|ganz)", "pas (?:tous|toutes|toujours)", "no (?:todos|siempre)",
    "good", "better", "best", "worse", "worst", "great", "nice", "important", "useful", "useless", "worth",
    "beautiful", "interesting", "boring", "easy", "hard", "gut", "schlecht", "besser", "wichtig", "schon", "bon",
    "mauvais", "bueno", "malo", "mejor", *japanese.SOME, "不一定", "不都", "有些", "大多", "有时",
)  # fmt: skip
"""Denial of such a sentence contradicts nothing: it holds of some, or it values."""
_ASSERTS_NOT = Phrases(*_DOUBT, *_SAID, *_THEN, *japanese.DOUBTS)
_TURNS = re.compile(
    r"\W*(?:but|however|yet|although|though|while|whereas|still|nevertheless|aber|jedoch|doch|allerdings|obwohl|dennoch"
    r"|mais|cependant|pourtant|toutefois|bien que|pero|sin embargo|aunque|ma|tuttavia|maar|echter|但是|然而|しかし)\b"
)
_ASKS = re.compile(r"[?？]\s*[\"”’)\]»]*\s*$|^\W*(?:¿|why|how come|warum|wieso|pourquoi|por que)\b")
MAY: Final = re.compile(
    r"(?<!\bin )(?<!\bof )(?<!\bon )(?<!\bby )(?<!\buntil )(?<!\bsince )\bmay (?:not |also |well )?[a-z]{2,}"
)
"""The modal, not the month."""
_QUOTED = re.compile(r"[\"“„«「『][^\"”“»」』]{12,}[\"”“»」』]")


def is_assertion(plain: str) -> bool:
    """Whether a sentence of plain letters states something in its writer's own name, of now or of always."""
    if _TURNS.match(plain) or _ASKS.search(plain) or _ASSERTS_NOT.found_in(plain) or japanese.asks(plain):
        return False
    quoted = sum(len(found[0]) for found in _QUOTED.finditer(plain))
    return quoted * 3 < len(plain) and "~~" not in plain


MODALS: Final = words_in(
    "can cannot can't kann konnen peut peuvent puede pueden puo possono kan kunnen pode podem"
)
"""`It can cause` is not denied by `it does not cause`."""
VERBS: Final = words_in(
    """is are was were be been am has have had do does did can cannot must should may will shall need needs use uses
    avoid avoids keep don't let make makes cost costs weigh weighs measure measures take takes run runs lie lies stand
    stands start starts begin begins end ends open opens close closes meet meets live lives contain contains hold
    holds support supports allow allows allowed forbidden require requires work works grow grows rise rises fall falls
    accept accepts reject rejects deny denies pay pays get gets give gives go goes come comes store stores persist
    persists ist sind war waren hat haben hatte wird werden wurde muss mussen soll sollen darf durfen kann konnen
    kostet kosten liegt liegen steht stehen dauert dauern beginnt endet schliesst offnet trifft lebt wiegt misst
    enthalt est sont etait a ont avait sera doit doivent peut peuvent coute coutent compte dure ferme ouvre pese
    mesure es son era fue tiene tienen hay debe deben puede pueden cuesta cuestan abre cierra pesa mide dura e ha
    hanno deve devono puo costa apre chiude heeft moet moeten kan kunnen kost opent sluit"""
)
"""A line of a list with none of these, and no full stop, is a label."""
_ALSO_SMALL: Final = frozenset(("a", "e"))
"""French and Italian verbs, an English article and an Italian `and`."""
_ROMANCE: Final = words_in("le la les l il elle un une des du on lo gli una uno el los las del della che di")


def has_verb(words: Collection[str], verbs: frozenset[str] = VERBS) -> bool:
    """Whether any of the words is one of `verbs`; `a` is one only where the others are of a language that has it so."""
    found = verbs.intersection(words)
    return bool(found - _ALSO_SMALL) or (bool(found) and not _ROMANCE.isdisjoint(words))


ARGUING: Final = Phrases(
    "pros?", "cons?", "contra", "for and against", "arguments?", "argumente?", "counter-?arguments?", "objections?",
    "against", "debates?", "critics?", "criticisms?", "critiques?", "myths?", "misconceptions?", "thesis",
    "antithesis", "perspectives?", "opinions?", "views?", "discussions?", "questions?", "quotes?", "quotations?",
    "ideas?", "drafts?", "hypothes[ei]s", "examples?", "templates?", "exercises?", "fiction", "story", "poems?",
    "dreams?", "opposing", "advantages?", "disadvantages?", "drawbacks?", "options?", "alternatives?", "vorteile?",
    "nachteile?", "dafur", "dagegen", "einwande?", "kritik", "debatte", "diskussion", "fragen?", "zitate?", "ideen?",
    "entwurfe?", "beispiele?", "avantages?", "inconvenients?", "debat", "citations?", "exemples?", "ventajas",
    "desventajas", "criticas?", "preguntas?", "citas?", "ejemplos?", "optionen", "alternativen", "vs", "versus",
)  # fmt: skip
"""A title or heading with one of these gathers sides, quotes or possibilities, not facts."""
PAST: Final = Phrases(
    "changelog", "change log", "history", "archiv(?:e|ed)?", "old", "deprecated", "release notes", "releases?",
    "logs?", "journals?", "diary", "timeline", "chronology", "minutes", "meetings?", "stand-?ups?", "daily",
    "weekly", "monthly", "retrospectives?", "verlauf", "geschichte", "protokolle?", "tagebuch", "chronik",
    "besprechung", "sitzung", "historique", "histoire", "reunions?", "historial", "historia", "diario",
    "reunion(?:es)?", "storia", "verslag", "geschiedenis",
)  # fmt: skip
"""A title or heading with one of these tells of other times."""
EVENTS: Final = words_in(
    """born died founded established created released launched published opened opens closed closes built completed
    invented discovered introduced signed deadline due starts started begins began ends ended expires expired happened
    occurs takes took held scheduled married adopted incorporated premiered ratified elected deadline birthday release
    launch anniversary departure arrival geboren gestorben gegrundet erschienen veroffentlicht eroffnet gebaut erbaut
    erfunden entdeckt unterzeichnet frist stichtag abgabe fallig beginnt begann endet endete findet statt
    fertiggestellt geburtstag termin ne nee mort morte fonde fondee publie publiee ouvert ouverte construit construite
    invente signe echeance commence debute finit termine naissance nacio nacida nacido murio fundada fundado fundo
    publicada publicado inaugurado construido inventado firmado plazo empieza comienza termina nacimiento nato nata
    morto fondata fondato pubblicato scadenza inizia finisce geboren 成立 出生 去世 发布 建成 截止 开始"""
)
"""What happens once: another date for it is another claim."""
