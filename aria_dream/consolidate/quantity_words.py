"""Words of units, currencies, months, weekdays, small numbers; in lower case, without accents, in several languages."""

from __future__ import annotations

import re
from typing import Final


def _units(dimension: str, *rows: tuple[float, str]) -> dict[str, tuple[str, float]]:
    return {name: (dimension, factor) for factor, names in rows for name in names.split()}


UNITS: Final[dict[str, tuple[str, float]]] = {
    **_units(
        "length",
        (1.0, "m meter metre metr metro metres meters metern metri 米 公尺"),
        (1000.0, "km kilometer kilometre kilometro kilometres kilometers kilometern chilometri 公里"),
        (0.01, "cm centimeter centimetre zentimeter centimetro 厘米 公分"),
        (0.001, "mm millimeter millimetre milimetro 毫米"),
        (1609.344, "mi mile miles meile meilen milla millas"),
        (0.3048, "ft foot feet fuss"),
        (0.0254, "inch inches zoll"),
        (0.9144, "yd yard yards"),
    ),
    **_units(
        "mass",
        (1.0, "kg kilogram kilogramm kilogramme kilo kilos chilo 公斤 千克"),
        (0.001, "g gram gramm gramme gramos grams 克"),
        (1e-6, "mg milligram milligramm"),
        (1e-9, "µg μg mcg"),
        (1000.0, "ton tons tonne tonnes tonnen tonelada"),
        (0.45359237, "lb lbs pound pounds pfund"),
        (0.028349523, "oz ounce ounces unze unzen"),
    ),
    **_units(
        "duration",
        (1.0, "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos 秒"),
        (0.001, "ms millisecond milliseconds millisekunden"),
        (60.0, "min mins minute minutes minuten minuto minutos minuti 分钟"),
        (3600.0, "h hr hrs hour hours stunde stunden heure heures hora horas ora ore uur 小时"),
        (86400.0, "day days tag tage tagen jour jours dia dias giorno giorni dag dagen 天"),
        (604800.0, "week weeks woche wochen semaine semaines semana semanas settimana settimane weken"),
        (2629800.0, "month months monat monate monaten mois mes meses mese mesi maand maanden"),
        (31557600.0, "year years jahr jahre jahren an ans annee annees ano anos anni jaar jaren"),
    ),
    **_units(
        "temperature",
        (1.0, "° °c celsius degree degrees grad"),
        (5 / 9, "°f fahrenheit"),
        (1.0, "°k kelvin"),
    ),
    **_units(
        "volume",
        (1.0, "l liter litre litres liters litro litros litri 升"),
        (0.001, "ml milliliter millilitre"),
        (0.01, "cl"),
        (0.1, "dl"),
        (3.785411784, "gallon gallons gal"),
    ),
    **_units(
        "data",
        (1e3, "kb kilobyte kilobytes"),
        (1e6, "mb megabyte megabytes"),
        (1e9, "gb gigabyte gigabytes"),
        (1e12, "tb terabyte terabytes"),
        (1024.0, "kib"),
        (1024.0**2, "mib"),
        (1024.0**3, "gib"),
        (1.0, "byte bytes"),
    ),
    **_units(
        "speed",
        (1.0, "km/h kmh kph"),
        (1.609344, "mph"),
        (3.6, "m/s"),
    ),
    **_units(
        "area",
        (1.0, "m² m2 qm sqm"),
        (1e6, "km² km2"),
        (1e4, "ha hectare hectares hektar"),
    ),
    **_units(
        "share",
        (1.0, "% percent prozent percento porcento procent pct"),
        (0.1, "‰"),
    ),
    **_units(
        "power",
        (1.0, "w watt watts"),
        (1000.0, "kw kilowatt"),
        (1e6, "mw megawatt"),
    ),
    **_units(
        "energy",
        (1.0, "kcal"),
        (0.239005736, "kj"),
        (860.0, "kwh"),
    ),
}  # fmt: skip
"""Unit to `(dimension, factor to its base unit)`."""
CURRENCIES: Final = {
    "€": "€", "eur": "€", "euro": "€", "euros": "€", "$": "$", "usd": "$", "dollar": "$", "dollars": "$", "£": "£",
    "gbp": "£", "¥": "¥", "yen": "¥", "₹": "₹", "chf": "chf", "franken": "chf", "pln": "pln", "zl": "pln", "sek": "sek",
    "元": "元", "円": "¥",
}  # fmt: skip
SCALES: Final = {
    "thousand": 1e3, "tausend": 1e3, "tsd": 1e3, "k": 1e3, "mille": 1e3, "mil": 1e3, "million": 1e6, "millions": 1e6,
    "millionen": 1e6, "mio": 1e6, "millon": 1e6, "millones": 1e6, "milioni": 1e6, "milione": 1e6, "mln": 1e6,
    "billion": 1e9, "bn": 1e9, "milliarden": 1e9, "milliarde": 1e9, "mrd": 1e9, "milliard": 1e9, "milliards": 1e9,
    "万": 1e4, "萬": 1e4, "億": 1e8, "亿": 1e8,
}  # fmt: skip

_MONTH_ROWS: Final = (
    "january jan januar janvier enero gennaio januari janeiro",
    "february feb februar fevrier febrero febbraio februari fevereiro",
    "march mar marz mars marzo maart marco marzec marca",
    "april apr avril abril aprile",
    "may mai mayo maggio mei maio",
    "june jun juni juin junio giugno junho",
    "july jul juli juillet julio luglio julho",
    "august aug aout agosto augustus",
    "september sep sept septembre septiembre settembre setembro",
    "october oct oktober okt octobre octubre ottobre outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember dez decembre diciembre dicembre dezembro",
)
MONTHS: Final = {name: number for number, row in enumerate(_MONTH_ROWS, start=1) for name in row.split()}
_WEEKDAY_ROWS: Final = (
    "monday mondays mon montag montags lundi lundis lunes lunedi maandag",
    "tuesday tuesdays tue dienstag dienstags mardi mardis martes martedi dinsdag",
    "wednesday wednesdays wed mittwoch mittwochs mercredi mercredis miercoles mercoledi woensdag",
    "thursday thursdays thu donnerstag donnerstags jeudi jeudis jueves giovedi donderdag",
    "friday fridays fri freitag freitags vendredi vendredis viernes venerdi vrijdag",
    "saturday saturdays sat samstag samstags sonnabend samedi samedis sabado sabato zaterdag",
    "sunday sundays sun sonntag sonntags dimanche dimanches domingo domenica zondag",
)
WEEKDAYS: Final = {name: number for number, row in enumerate(_WEEKDAY_ROWS) for name in row.split()}

_COUNT_ROWS: Final = (
    (2, "two zwei deux dos twee duas"), (3, "three drei trois tres tre drie"),
    (4, "four vier quatre cuatro quattro"), (5, "five funf cinq cinco cinque vijf"), (6, "six sechs seis zes"),
    (7, "seven sieben siete sette zeven"), (8, "eight acht huit ocho otto"), (9, "nine neun neuf nueve nove negen"),
    (10, "ten zehn dix diez dieci tien"), (11, "eleven elf onze undici"),
    (12, "twelve zwolf douze doce dodici twaalf"), (20, "twenty zwanzig vingt veinte"),
    (30, "thirty dreissig trente treinta"), (40, "forty vierzig quarante cuarenta"), (50, "fifty funfzig cinquante"),
    (60, "sixty sechzig soixante sesenta zestig"), (70, "seventy siebzig setenta zeventig"),
    (80, "eighty achtzig ochenta tachtig"), (90, "ninety neunzig noventa negentig"), (100, "hundred hundert cien"),
    (2, "два две dwa dwie"), (3, "три trzy"), (4, "четыре cztery"), (5, "пять piec"), (6, "шесть szesc"),
    (7, "семь"), (8, "восемь osiem"), (9, "девять"), (10, "десять"),
)  # fmt: skip
COUNT_WORDS: Final = {name: number for number, row in _COUNT_ROWS for name in row.split()}

DESIGNATORS: Final = frozenset(
    ["version", "ver", "release", "chapter", "section", "page", "figure", "fig", "table", "room", "step", "phase",
    "level", "part", "volume", "vol", "number", "no", "nr", "day", "week", "lesson", "unit", "season", "episode",
    "act", "question", "item", "issue", "ticket", "line", "route", "gate", "platform", "floor", "grade", "class",
    "type", "model", "mark", "generation", "gen", "kapitel", "abschnitt", "seite", "abbildung", "raum", "zimmer",
    "schritt", "stufe", "teil", "band", "nummer", "folge", "klasse", "chapitre", "page", "numero", "salle", "etape",
    "niveau", "partie", "tome", "capitulo", "pagina", "sala", "paso", "nivel", "parte", "tomo", "hoofdstuk", "deel",
    "stap", "article", "art", "paragraph", "appendix", "rfc", "iso", "sql", "http", "pull", "pr", "task", "sprint",
    "milestone", "build", "edition", "quarter", "q"]
)
"""A number behind these names a thing."""
NO_NOUN: Final = frozenset(
    ["and", "or", "is", "are", "was", "were", "has", "have", "had", "in", "on", "at", "to", "of", "for", "from", "by",
    "with", "as", "the", "a", "an", "per", "than", "but", "if", "when", "which", "that", "und", "oder", "ist", "sind",
    "war", "hat", "haben", "im", "am", "an", "zu", "von", "fur", "aus", "mit", "als", "der", "die", "das", "pro",
    "et", "ou", "est", "sont", "a", "en", "au", "de", "pour", "par", "y", "o", "es", "son", "tiene", "para", "por",
    "e", "il", "la", "le", "les", "el", "los", "las", "da", "di", "del", "che", "en", "het", "een", "van", "op", "te",
    "ja", "supports", "needs", "runs", "uses", "will", "can", "must", "should", "does", "do", "did", "kann", "muss",
    "soll"]
) | {""}
"""Words behind a number that are not what it counts."""
SETTINGS: Final = frozenset(
    {"port", "ph", "pin", "budget", "limit", "preis", "prix", "precio", "puerto", "alter", "age"}
)
"""A number behind these is a value, however the word is written."""
OPENERS: Final = frozenset(
    ["only", "about", "around", "has", "have", "costs", "seats", "contains", "holds", "weighs", "measures", "takes",
    "lasts", "lies", "stands", "nur", "etwa", "rund", "kostet", "hat", "fasst", "dauert", "seulement", "environ",
    "contient", "coute", "solo", "unos", "cuesta", "tiene", "contiene", "use", "uses", "using", "wait", "add", "mix"]
)
"""A sentence may begin with these and go on with a number that counts something."""
BOUND: Final = re.compile(
    r"(?:\bat (?:least|most)|\b(?:more|less|fewer|greater|higher|lower) than|\bup to|\bover|\bunder|\babove|\bbelow"
    r"|\bmin(?:imum)?\.?|\bmax(?:imum)?\.?|\bevery|\bwithin|\bmindestens|\bhochstens|\buber"
    r"|\bunter|\bmehr als|\bweniger als"
    r"|\bbis zu|\balle|\bau (?:moins|plus)|\b(?:plus|moins) de|\bjusqu.a|\b(?:mas|menos) de|\bal menos|\bhasta|\bpiu di"
    r"|\balmeno|\bmeer dan|\bminstens|[<>≤≥]|最多|至少|超过|不到)\s*(?:of\s+)?[$€£¥]?\s*$"
)
ROUGHLY: Final = re.compile(
    r"(?:\babout|\baround|\bapprox(?:imately|\.)?|\broughly|\bcirca|\bca?\.|\bnearly|\balmost|\bsome|\betwa|\brund"
    r"|\bungefahr|\bfast|\benviron|\bpresque|\bunos|\bunas|\bcasi|\baproximadamente|\bongeveer|~|≈|约|約)\s*[$€£¥]?\s*$"
)
