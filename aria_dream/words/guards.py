"""Words on which it turns whether two nearly equal sentences say the same: negations, numbers, dates, units, states.

In English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Chinese, as far as single words go.
They make a judge more careful or surer that two passages differ; that two say the same they never prove.
"""

from __future__ import annotations

import re
from typing import Final


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


NEGATIONS: Final = _listed(
    """
    not no never none nothing nobody nowhere neither nor cannot without hardly barely
    nicht nichts nie niemals niemand kein keine keinen keinem keiner keines weder ohne kaum
    ne pas jamais rien aucun aucune sans ni non ningún ninguno ninguna nunca jamás nada nadie tampoco sin
    mai niente nulla nessuno nessuna nessun senza né
    não nem ninguém nenhum nenhuma sem
    niet geen nooit niets niemand zonder noch
    nie nigdy nic nikt bez żaden żadna żadne ani
    не нет ни никогда ничего никто нельзя без никакой
    inte ingen inget inga aldrig ikke ingenting
    不 没 沒 無 无 未 非 别 勿 ず ぬ
    """
)
_MONTHS_AND_DAYS: Final = _listed(
    """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday
    januar jänner februar märz mai juni juli oktober dezember
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag heute morgen gestern
    janvier février mars avril juin juillet août septembre octobre novembre décembre
    lundi mardi mercredi jeudi vendredi samedi dimanche
    enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre
    lunes martes miércoles jueves viernes sábado domingo
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
    lunedì martedì mercoledì giovedì venerdì sabato domenica
    janeiro fevereiro março maio junho julho setembro outubro dezembro
    januari februari maart mei augustus maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
    stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
    poniedziałek wtorek środa czwartek piątek sobota niedziela
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря
    понедельник вторник среда четверг пятница суббота воскресенье
    spring summer autumn winter frühling sommer herbst
    """
)
_ORDINALS: Final = _listed("first second third fourth fifth last erste zweite dritte letzte")
_NUMBER_WORDS: Final[dict[str, int]] = {
    word: value
    for value, words in {
        2: "two zwei deux dos due dois duas twee dwa dwie два две 二 两",
        3: "three drei trois tres tre três drie trzy три 三",
        4: "four vier quatre cuatro quattro quatro cztery четыре 四",
        5: "five fünf cinq cinco cinque vijf pięć пять 五",
        6: "six sechs seis sei zes sześć шесть 六",
        7: "seven sieben sept siete sette sete zeven siedem семь 七",
        8: "eight acht huit ocho otto oito osiem восемь 八",
        9: "nine neun neuf nueve nove negen dziewięć девять 九",
        10: "ten zehn dix diez dieci dez tien dziesięć десять 十",
        11: "eleven elf onze once undici jedenaście одиннадцать",
        12: "twelve zwölf douze doce dodici doze twaalf dwanaście двенадцать",
        15: "fifteen fünfzehn quinze quince quindici vijftien пятнадцать",
        20: "twenty zwanzig vingt veinte venti vinte twintig dwadzieścia двадцать",
        30: "thirty dreißig trente treinta trenta trinta dertig trzydzieści тридцать",
        40: "forty vierzig quarante cuarenta quaranta quarenta veertig czterdzieści сорок",
        50: "fifty fünfzig cinquante cincuenta cinquanta cinquenta vijftig пятьдесят",
        60: "sixty sechzig soixante sesenta sessanta sessenta zestig шестьдесят",
        70: "seventy siebzig setenta settanta zeventig семьдесят",
        80: "eighty achtzig ochenta ottanta oitenta tachtig восемьдесят",
        90: "ninety neunzig noventa novanta negentig девяносто",
        100: "hundred hundert cent cien cento cem honderd sto сто 百",
        1000: "thousand tausend mille mil duizend tysiąc тысяча 千",
        0: "zero null zéro cero 〇 零",
        1: "一",
    }.items()
    for word in words.split()
}
UNITS: Final = _listed(
    """
    mm cm m km mi mile miles inch inches ft foot feet yard yards mg g kg t lb lbs pound pounds oz ounce ounces ml cl dl
    l litre litres liter liters gallon gallons pint pints cup cups s sec second seconds min minute minutes h hour hours
    day days week weeks month months year years c f k bar psi pa kpa w kw mw wh kwh v a hz khz mhz ghz kb mb gb tb
    euro euros dollar dollars cent cents percent permille degree degrees
    meter kilometer zentimeter gramm kilo kilos stunde stunden tag tage tagen woche wochen monat monate jahr jahre
    jahren
    heure heures jour jours semaine semaines mois an ans hora horas día días semana semanas mes meses año años
    ora ore giorno giorni settimana mese mesi anno anni dia dias mês anos uur dag dagen maand jaar
    $ € £ ¥ % ‰ ° ℃ ℉ 度 分 秒 年 月 日 時 时 円 元 克 グ ラ ム
    """
)
STATES: Final = _listed(
    """
    open closed done todo doing draft final wip planned finished active inactive approved rejected obsolete outdated
    deprecated superseded archived cancelled canceled current old new valid invalid true false yes no accepted declined
    offen erledigt entwurf fertig geplant abgelehnt veraltet archiviert fait terminé brouillon hecho borrador terminado
    """
)
STATE_PROPERTIES: Final = _listed(
    """
    status state stage draft done completed archived obsolete deprecated superseded superseded_by replaces version
    valid valid_until valid-until expires review_by date due deadline
    """
)
"""Properties that make two notes differ even where only one of them has them."""
_DIGITS: Final = re.compile(r"\d+")


def is_number(word: str) -> bool:
    """Whether a word is a number, in digits or as a word."""
    return word in _NUMBER_WORDS or any(character.isdigit() for character in word)


def is_date(word: str) -> bool:
    """Whether a word names a month, a day, a season or a place in a row."""
    return word in _MONTHS_AND_DAYS or word in _ORDINALS


def is_negation(word: str) -> bool:
    """Whether a word denies: `not`, `keine`, `n'est`, `can't`."""
    return word in NEGATIONS or word.startswith("n'") or word.endswith("n't")


def surely_other_number(first: str, second: str) -> bool:
    """Whether two numbers differ however they are read: `1,200` may be `1200`, and `2024-03-01` is `1.3.2024`."""
    return is_number(first) and is_number(second) and not _values(first) & _values(second)


def _values(word: str) -> set[tuple[float, ...]]:
    if word in _NUMBER_WORDS:
        return {(float(_NUMBER_WORDS[word]),)}
    groups = [int(group) for group in _DIGITS.findall(word)]
    readings: set[tuple[float, ...]] = {tuple(sorted(map(float, groups)))}
    marks = _DIGITS.sub(" ", word).split()
    bare = word.lstrip("-\u2212+\u00b1")
    sign = -1.0 if word[:1] in "-\u2212" else 1.0
    digits = _DIGITS.findall(bare)
    if bare and not any(character.isalpha() for character in bare) and set("".join(marks)) <= set(".,'\u2019+-\u2212"):
        readings.add((sign * float("".join(digits)),))  # every mark a separator of thousands
        if len(digits) > 1:
            readings.add((sign * float(f"{''.join(digits[:-1])}.{digits[-1]}"),))
        elif bare[:1] in ".,":
            readings = {(sign * float(f"0.{digits[0]}"),)}
        if sign < 0:
            readings.discard(tuple(sorted(map(float, groups))))
    return readings
