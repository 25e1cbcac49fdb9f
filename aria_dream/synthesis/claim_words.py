# ruff: noqa: E501 - lists of words, one kind a line
"""The words by which a claim shows what it is: labels, hedges, routine, ids of events.

They are English where they are words at all; a claim in another language is a plain one.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from enum import Enum
from functools import lru_cache
from typing import Final

from aria_dream.synthesis.contrast import plain
from aria_dream.synthesis.orders import ORDERS


class Role(Enum):
    """What a claim is for, as its label or its opening words say."""

    PLAIN = "plain"
    DIRECTIVE = "directive"
    """The operator's explicit word."""
    OUTCOME = "outcome"
    """Something observed afterwards."""
    REMEDY = "remedy"
    """A change that would mend a failure: proposed, not observed."""
    SURPRISE = "surprise"
    MISCALL = "miscall"
    GAP = "gap"
    """Something that nothing checks or stops."""


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


LABELS: Final = (
    (Role.DIRECTIVE, _any(r"(?:operator[ _])?directive")),
    (Role.OUTCOME, _any(
        r"(?:observed )?(?:outcome|result|effect)s?", "observed|measured|observation|later|since then",
    )),
    (Role.REMEDY, _any(
        "fix|remedy|guard|change|proposed[_ ]change|next time|prevention|mitigation|countermeasure",
        "what would help|smallest change",
    )),
    (Role.SURPRISE, _any("(?:productive )?surprises?", "unexpected")),
    (Role.MISCALL, _any("(?:calibration )?mis-?calls?", "mistake|overclaim(?:ed)?|wrong call|was wrong")),
    (Role.GAP, _any("(?:system )?gap", "missing (?:check|guard|test)", "nothing checks")),
)  # fmt: skip
"""What the label in front of a claim makes of it; the whole label has to match."""

FIELDS_LEFT_OUT: Final = frozenset(
    {
        "status", "state", "date", "time", "id", "session", "session_id", "event", "event_id", "incident",
        "incident_id", "run", "run_id", "tags", "tag", "owner", "author", "created", "created_at", "updated",
        "updated_at", "severity", "confidence", "ref", "refs", "source", "sources", "link", "links",
        "next_valid_action", "waiting_on", "kind", "type", "count", "evidence", "failure_class", "objective",
    }
)  # fmt: skip
"""Labels of what is a property of the entry and no claim."""

PROPERTIES_THAT_TELL: Final = frozenset(
    {"summary", "lesson", "pattern", "finding", "learned", "outcome", "operator directive", "directive", "surprise"}
)
"""Properties of a capsule that claim something."""

HEDGED: Final = _any(
    r"\b(?:probably|perhaps|maybe|presumably|likely|apparently)\b",
    r"\bi (?:think|guess|suspect|believe|assume)\b",
    r"\b(?:must|might|may|could) have(?: been)?\b",
    r"\bseems? to have\b|\bmy theory\b",
)
"""A story of a cause that nobody has looked into."""

SELF_CONFIRMED: Final = _any(
    r"\bl\d{3,}\b|\bDREAM_LOG\b|\bLESSONS\.jsonl\b|\bni-\d{8}",
    r"\b(?:as|like) (?:i|we|the lesson|the dream|dream) (?:predicted|said|wrote|expected)",
    r"\bconfirms? (?:my|our) (?:own|earlier)\b|\bproves (?:me|us) right\b",
)
"""Our own output, told back to us."""

GAP: Final = _any(
    r"\b(?:nothing|no (?:check|test|guard|one|validator|alarm|warning))\b[^.]{0,40}\b(?:check(?:s|ed)?|catches|caught"
    r"|warn(?:s|ed)|notice[sd]|stop(?:s|ped)|test(?:s|ed)|cover(?:s|ed))\b",
    r"\bthere (?:is|was) no (?:check|test|guard|validator|alarm|warning)\b",
    r"\b(?:never|not) (?:checked|validated|tested|guarded|verified)\b|\bsilently\b",
)

_DIRECTING: Final = (
    r"(?:asked|asks|directed|decided|instructed|told(?: me| us)?|ordered|ruled|wants?|wanted|said|says|insists?|sagt|sagte|will"
    r"|mochte|a dit|dit|veut|demande|dice|dijo|quiere|pide|ha detto|vuole|chiede|disse|quer|pede|zegt|zei|wil|powiedzial\w*"
    r"|сказал\w*|просит)"
)


@lru_cache(maxsize=8)
def _directed(operators: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """`(label, opening words)` of a directive by one of `operators`."""
    names = "|".join(re.escape(plain(name)) for name in operators) or r"(?!)"
    label = rf"(?:the )?(?:{names})(?:'s)?(?: (?:directive|decision|instruction|request|rule|{_DIRECTING}))?"
    return _any(label), _any(rf"^(?:the )?(?:{names})\b[^.]{{0,40}}?\b{_DIRECTING}\b")


def role_of_label(label: str, operators: tuple[str, ...]) -> Role | None:
    """What the label in front of a claim makes of it; None where it is none of those known."""
    if label and _directed(operators)[0].fullmatch(plain(label)):
        return Role.DIRECTIVE
    return next((role for role, pattern in LABELS if pattern.fullmatch(label)), None) if label else None


_OBSERVED = _any(r"^(?:the )?(?:observed outcome|outcome was|result was|we observed|it was observed)\b")
_SURPRISED = _any(r"\b(?:surprised|surprisingly|unexpectedly|to my surprise)\b")
_ROUTINE = _any(
    r"^(?:i |we )?(?:ran|run|updated|wrote|read|reviewed|worked|met|added|made|pushed|committed|started|finished"
    r"|continued|planned|discussed|talked|drafted|opened|closed|cleaned|moved|renamed|walked|called|sent|installed"
    r"|tidied|sorted|drew)\b"
)
_SAYS_MORE = _any(
    r"\b(?:when|whenever|if|because|before|after|unless|until|without|instead|only|never|always|again|every|must|should"
    r"|so that|which|while|fail\w*|br[eo]ke\w*|lost|wrong|miss\w*|crash\w*|than)\b"
)

EVENT_FIELDS: Final = (
    "id", "session", "session_id", "event", "event_id", "incident", "incident_id", "run", "run_id", "ticket",
)  # fmt: skip
"""Properties whose value names the event that an entry tells of."""

EVENT_IDS: Final = (
    re.compile(
        r"\b(?:session|sess|event|evt|ev|incident|inc|run|job|ticket|task|case|req|trace|op|capsule|cap|bug|issue|pr|mr"
        r"|exp|fm|td|hl|commit|deploy|build|release)[-_#/ ]?#?\d[\w.-]*\b",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?!(?:ISO|SHA|UTF|RFC|HTTP|GPT|PEP|UTC|GMT|CVE|COVID)\b)[A-Z]{2,10}-\d+\b"),
    re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b"),
    re.compile(r"(?<![\w&])#\d+\b"),
)
"""Ids of events inside a text: `run 12`, `INC-7`, a commit, `#41`."""

_FUTURE_DAY = _any(
    r"\b(?:tomorrow|tonight|next (?:week|month|year|sprint|mon|tues|wednes|thurs|fri|satur|sun)\w*|later today|this (?:evening"
    r"|afternoon)|in (?:a|two|three|a few) (?:hour|day|week)s?)\b|\bmorgen (?:lauft|fallt|wird|ist|kommt|muss)|\bubermorgen\b"
    r"|\bnachste (?:woche|n monat)\b|\b(?:demain|la semaine prochaine|(?<!la )(?<!esta )manana|la proxima semana|domani|la prossima settimana"
    r"|amanha|semana que vem|volgende week|jutro|w przyszlym tygodniu|завтра|на следующеи неделе)\b|明天|明日|下周|来週|내일",
)
_UNBOUND = _any(
    r"^(?:it|they|he|she)(?:'s|'re|'ll|'d)? ",
    r"^(?:this|that|these|those)(?:'s|'re|'ll|'d)? (?:is|are|was|were|has|have|had|will|would|can|could|should|must|may|might|did"
    r"|does|do|took|takes|made|makes|got|gets|came|comes|went|goes|gave|gives|kept|keeps|means|meant|fell|broke|ran|runs|held|led"
    r"|left|lost|put|saw|said|sent|stood|told|costs?|lets?|set|hit|cut|shut|helps|works|fails|needs|never|always|only|also|again"
    r"|just|still|\w+ed) ",
    r"^(?:er|sie|es) \w+(?:te|ten|t) |^(?:ca|cela|ils|elles) |^(?:ello|esto|eso|ellos|ellas) |^(?:isso|isto|eles|elas) "
    r"|^(?:это|он|она|оно|они) |^(?:它|他们|她们|这|那)(?:是|会|了|使|让)|^(?:それ|これ|あれ)[はがで]",
)
"""A sentence whose subject stands in another one."""
_MOOD = _any(
    r"\b(?:everyone|everybody|we all|all of us|the team|i) (?:was|were|am|is|felt|feel) (?:very |so |quite |really )?(?:happy|glad"
    r"|pleased|tired|content|excited|relieved|proud|sad|optimistic|satisfied|calm|motivated)\b",
    r"\b(?:good|great|nice|lovely|pleasant|productive|fruitful|interesting|fun|long|busy|quiet) (?:discussion|talk|chat|meeting|day"
    r"|week|session|conversation|evening|morning|lunch|call|walk)\b",
    r"\balle (?:waren|sind) (?:zufrieden|glucklich|froh|mude)\b|\b(?:gutes gesprach|guter tag|gute diskussion)\b",
    r"\btout le monde (?:etait|est) (?:content|heureux)\b|\bbonne (?:discussion|journee|reunion)\b",
    r"\btodos (?:estaban|estan|contentos)\b|\bbuena (?:charla|reunion|discusion)\b|\bbella (?:discussione|giornata)\b",
)
_TASKS: Final = _any(
    r"^\W*(?:to-?do|todos|tasks?|next(?: steps?)?|done|backlog|chores|errands|groceries|shopping(?: list)?|agenda|checklist|plan"
    r"|aufgaben|erledigt|einkauf(?:sliste)?|nachste schritte|a faire|fait|courses|tareas|pendientes|hecho|compras|da fare|fatto"
    r"|spesa|tarefas|feito|taken|gedaan|boodschappen|zadania|zrobione|zakupy|задачи|сделано|покупки|待办|買い物|やること)\W*$"
)
"""Headings of lists of what is to be done or was."""


def is_task_list(title: str) -> bool:
    """Whether a heading opens a list of tasks, done or open: no claims."""
    return _TASKS.search(plain(title)) is not None


def not_a_lesson(text: str) -> str:
    """Why a claim teaches nothing that stands for itself; "" where it may teach something."""
    said = plain(text)
    if ORDERS.search(said):
        return "an order to the reader"
    if _UNBOUND.search(said):
        return "not clear without the sentence before it"
    if _FUTURE_DAY.search(said):
        return "of one day"
    if _MOOD.search(said) and not _SAYS_MORE.search(said):
        return "a mood"
    return ""


_DAYS_AGO: Final = (
    (0, _any(r"\b(?:earlier )?today\b|\bthis morning\b|\bheute(?: morgen| fruh)?\b|\baujourd.hui\b|\bhoy\b|\boggi\b|\bhoje\b|今天|今日")),
    (1, _any(r"\byesterday\b|\blast night\b|\bgestern(?: abend)?\b|\bhier soir\b|^hier\b(?=,| (?:le|la|les|l'|un|une|on|nous|vous|j'|je|il|elle|ils|elles)\b)|\bayer\b|\bieri\b|\bontem\b"
             r"|\bgisteren\b|昨天|昨日")),
)  # fmt: skip


def with_dates(text: str, day: date | None) -> str:
    """`text` with "today" and "yesterday" as the dates that they mean on `day`; unchanged where that is not known."""
    if day is None:
        return text
    for ago, words in _DAYS_AGO:
        when = f"on {day - timedelta(days=ago)}"
        if (found := words.match(text)) is not None:
            text = f"{when[:1].upper()}{when[1:]}{text[found.end() :]}"
        text = words.sub(when, text)
    return text


_RETOLD: Final = (
    (2, _any(
        r"\b(?:yesterday|last night|the (?:day|night) before|overnight|am (?:vortag|vorabend)|la veille|el dia anterior|il giorno prima|gestern|vorgestern|hier soir|avant-hier|ayer"
        r"|anoche|ieri|ontem|gisteren|wczoraj|вчера)\b|昨日|昨天|前天|一昨日|어제|\bhier\b(?=,|[.!]?$| (?:le|la|les|l'|un|une|on|nous|vous|j'|je|il|elle|ils|elles)\b)",
    )),
    (14, _any(
        r"\b(?:\d{1,2}|two|three|four|five|six|a few|some|several) (?:days|nights) ago\b|\bthe other (?:day|night)\b|\brecently\b"
        r"|\bvor (?:\d{1,2}|zwei|drei|vier|funf|sechs|einigen|ein paar) tagen\b|\bneulich\b|\bil y a (?:\d{1,2}|deux|trois|quatre|cinq"
        r"|quelques) jours\b|\bl'autre jour\b|\bhace (?:\d{1,2}|dos|tres|cuatro|cinco|unos|varios) dias\b|\bel otro dia\b"
        r"|\b(?:due|tre|quattro|alcuni|pochi) giorni fa\b|\bha (?:\d{1,2}|dois|tres|alguns) dias\b|[几两二三四五]天前|数日前"
        r"|\b(?:looking back|reminder ?:|again from|from last time|last time|tl;? ?dr|to recapitulate|in short|once more:|repeat(?:ed|ing)?:"
        r"|ruckblickend|zur erinnerung|erinnerung ?:|pour rappel|rappel ?:|recordatorio ?:|promemoria ?:|lembrete ?:)|提醒|再次说明|"
        r"(?<!\ba )(?<!\bevery )(?<!\beach )\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:last|past|this|previous|earlier this) week\b|\bweek in review\b"
        r"|\b(?:recap|retro(?:spective)?|round-?up)\b|\bweekly\b|\b(?:summary|review|digest) of (?:the |this |last |our )?(?:day|week|month|sprint)"
        r"|(?:^|\n)[^\w\n]*(?:\d{4}-\d{2}-\d{2}[^\w\n]*)?(?:[\w'’-]+ ){0,2}(?:summary|digest|review|zusammenfassung|bilan|resume|resumen|resumo"
        r"|balanco|riepilogo|riassunto|samenvatting|podsumowanie)\b(?= *(?:[:\n—–-]|$))"
        r"|\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b|\b(?:letzte|diese|vergangene|vorige)n? woche"
        r"|\b(?:wochen)?ruckblick\b|\bruckschau\b|\bsemaine (?:derniere|passee)\b|\bcette semaine\b"
        r"|\brecapitulatif\b|\b(?:semana pasada|esta semana|semana passada)\b"
        r"|\b(?:settimana scorsa|questa settimana)\b|\b(?:vorige|afgelopen|deze) week\b"
        r"|\bzeszlym tygodniu\b|прошлои неделе|прошлой неделе|\bитоги\b|\bобзор\b|上周|上週|先週|今周|今週|振り返り"
        r"|回顾|回顧|总结|總結|まとめ|지난주",
    )),
    (62, _any(
        r"\b(?:last|past|previous|this) (?:month|quarter|sprint)\b|\b(?:month|quarter|sprint|year) in review\b"
        r"|\b(?:letzten|vergangenen) monat\b|\bmois dernier\b|\bmes (?:pasado|passado)\b|\bmese scorso\b|上个月|先月|지난달",
    )),
    (366, _any(
        r"\b(?:(?:copied|quoted|taken|noted|repeated) from (?:the |my |our )?(?:capsule|log|ledger|capture|session|diary|journal|entry)|from the "
        r"(?:capsule|log|ledger|capture|notes?|session|report|diary) ?:"
        r"|aus (?:dem|der) (?:protokoll|logbuch|kapsel|tagebuch|bericht) ?:|tire du|del (?:registro|diario|informe) ?:)|摘自|引自"
        r"|\bas (?:the |our |my |his |her |their )?[\w' -]{2,30} (?:says?|said|shows?|notes?|noted|records?|recorded|reports?"
        r"|reported|tells?|told|has it)\b|\b(?:according to|as (?:noted|written|recorded|reported|mentioned|described|told)"
        r"|(?:see|per|cf\.?) (?:the|my|our)? ?(?:ledger|log|capsule|capture|entry|note|report))\b|\bas (?:before|already|above)\b"
        r"|\b(?:laut|wie (?:im|in der|das|die|der) [\w -]{2,30} (?:steht|sagt|vermerkt))\b|\b(?:selon|d'apres|comme (?:le|la) dit)\b"
        r"|\b(?:segun|secondo|conforme|volgens|wedlug|согласно)\b|によると|如.{1,6}所[说述记]",
    )),
)  # fmt: skip
"""`(days, words)`: what tells again something of up to so many days before."""


def retold_days(text: str) -> int:
    """How many days back the words of a text may tell something again; 0 where they tell of their own day."""
    said = plain(text)
    return max((days for days, words in _RETOLD if words.search(said)), default=0)


WORDS_LEAST: Final = 5
WORDS_OF_A_DIRECTIVE: Final = 3
"""A labelled directive or outcome may be short: "never deploy after 16:00"."""
WORDS_MOST: Final = 60


def role_of(text: str, operators: tuple[str, ...]) -> Role:
    """What a claim without a label is. `operators` are the names of those who may give a directive."""
    if _directed(operators)[1].match(plain(text)):
        return Role.DIRECTIVE
    if _OBSERVED.match(text):
        return Role.OUTCOME
    if _SURPRISED.search(text):
        return Role.SURPRISE
    return Role.GAP if names_gap(text) else Role.PLAIN


def names_gap(text: str) -> bool:
    """Whether the text says in so many words that nothing checks or stops something."""
    return GAP.search(text) is not None


def is_claim(text: str, role: Role | None = None) -> bool:
    """Whether a sentence claims something: no question, no fragment, no essay, no mere report of routine. `role` is
    what its label says, if it has one."""
    words = [word for word in text.split() if re.search(r"[^\W\d_]", word)]
    least = WORDS_OF_A_DIRECTIVE if role in (Role.DIRECTIVE, Role.OUTCOME) else WORDS_LEAST
    few = len(words) < least and len(re.findall(r"[^\W\d_a-zA-Z]", text)) < 8  # scripts without spaces
    if few or len(words) > WORDS_MOST or text.endswith("?"):
        return False
    return not (_ROUTINE.match(text) and not _SAYS_MORE.search(text))
