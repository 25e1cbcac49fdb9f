# ruff: noqa: E501 - lists of words, one kind a line
"""What sets two claims in like words against each other: numbers, days, names, denials, opposites, exchanged roles.

A vector cannot tell "faster" from "slower". Doubt is a contrast: a lesson that waits a night costs less than a wrong
one. In the languages that the lists below know; numbers, names and exchanged roles need no list.
"""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from aria_dream.words.guards import NEGATIONS, is_date, is_negation, is_number, surely_other_number
from aria_dream.words.opposites import STATES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TWIN_SHARE: Final = 0.66
"""Share of common words, of all the words of two texts, from which a denial in only one of them contradicts the other.
In fewer common words a denial is as often another way to say the same ("it was never opened", "nobody opened it")."""
HELD_SHARE: Final = 0.9
"""And so is one where nearly all words of the shorter text are in the longer one."""
NAMED_SHARE: Final = 0.5
"""Share of common words from which two texts that name different names speak of different things."""

_OPPOSITES: Final = (
    """raise raised raises raising increase increased increases grow grew grows up rise rose rises higher erhoht erhohen
    gestiegen hoher augmente augmenter monte aumentar aumenta aumento subir subio aumentare aumentato subiu verhoogd
    podniesiono повысили увеличили выше|lower lowered lowers lowering decrease decreased decreases reduce reduced
    reduces drop dropped drops shrink shrank cut down fall fell falls gesenkt senken reduziert gesunken niedriger
    diminue diminuer reduit baisse baisser reducir reducido reduce bajar bajo ridotto ridurre diminuito reduzido reduziu
    verlaagd obnizono снизили уменьшили ниже""",
    """more mehr plus mas piu mais meer wiecej больше|less fewer weniger moins menos meno minder mniej меньше""",
    """longer langer|shorter kurzer""",
    """fast faster fastest quick quicker quickly schnell schneller rapide vite rapidement rapido rapida rapidamente
    veloce velocemente snel sneller szybko szybciej быстро быстрее|slow slower slowest slowly langsam langsamer lent
    lente lentement lento lenta lentamente despacio langzaam langzamer wolno wolniej медленно медленнее""",
    """before vor vorher bevor avant antes prima voor voordat przed до перед|after afterwards nach nachher nachdem apres
    despues dopo depois na nadat po после""",
    """enable enables enabled activate activated turned-on aktiviert eingeschaltet active activer activado activar
    attivato attivare ativado ingeschakeld wlaczone включено включен включить|disable disables disabled deactivate
    deactivated deaktiviert ausgeschaltet desactive desactiver desactivado desactivar disattivato disattivare desativado
    uitgeschakeld wylaczone отключено отключен отключить""",
    "on an eingeschaltet|off aus ausgeschaltet",
    """work works worked working succeed succeeds succeeded success pass passes passed fixed repaired solved resolved
    healthy stable funktioniert gelingt klappt behoben repariert stabil marche fonctionne reussit repare resolu funciona
    arreglado resuelto funzionano funziona risolto riparato resolvido werkt opgelost dziala naprawiono
    работает исправлен исправлено решено|fail fails failed failing failure break breaks broke broken crash
    crashes crashed unstable flaky
    scheitert fehlgeschlagen kaputt instabil echoue casse falla fallo fallan roto fallisce fallito rotto falha falhou
    quebrado faalt mislukt kapot zawodzi zepsuty падает сломан сломано сломался""",
    """always ever every immer jedes toujours siempre sempre altijd zawsze всегда|never nie niemals jamais nunca mai
    nooit nigdy никогда""",
    """start starts started begin begins began open opens opened startet gestartet beginnt commence ouvert abre inicia
    iniziare inizia begint запускать открывать|stop stops stopped end ends ended finish close closes closed gestoppt
    beendet endet arrete finit ferme cierra termina finisce chiude stopt останавливать закрывать""",
    """add adds added adding insert inserted hinzugefugt ajoute anadir anadido aggiunto adicionado toegevoegd dodano
    добавить|remove removes removed removing delete deletes deleted entfernt geloscht supprime retire eliminar eliminado
    quitar rimosso eliminato removido verwijderd usunieto удалить""",
    """allow allows allowed permit permitted let erlaubt autorise permis permitido permesso toegestaan разрешено|forbid
    forbids forbidden deny denies denied block blocks blocked refuse verboten interdit prohibido vietato proibido
    verboden запрещено""",
    """with mit avec con com met with z с|without ohne sans sin senza sem zonder bez без""",
    """better best helps helped improve improves improved besser hilft verbessert mieux aide ameliore mejor ayuda mejora
    meglio migliora aiuta melhor ajuda melhora beter helpt lepiej лучше помогает|worse worst hurts hurt harms worsen
    worsened schlechter schadet verschlechtert pire nuit aggrave peor empeora peggio peggiora pior piora slechter gorzej
    хуже вредит""",
    """high hoch haut haute alto alta hoog высокий|low niedrig bas basse bajo baja basso bassa baixo laag низкий""",
    """large big huge gross grosse grossen grand grande grandes groot grote большой|small little tiny klein kleine
    kleinen petit petite petits petites pequeno pequena piccolo piccola kleiner маленький""",
    """long lang lange langen longue longues largo larga largos largas lungo lunga longo longa длинный|short brief kurz
    kurze kurzen court courte courts courtes corto corta cortos cortas breve curto curta kort korte короткий""",
    """early fruh tot temprano presto cedo vroeg рано|late spat tard tarde tardi laat поздно""",
    """soft weich mou molle tendre blando blanda morbido morbida mole zacht|hard hart dur dure duro dura""",
    """love loves like likes prefer prefers liebt lieben mag mogen bevorzugt bevorzugen aime aiment prefere preferent
    gusta gustan aman|hate hates dislike dislikes hasst hassen deteste detestent odia odian""",
    """accelerate accelerates accelerated sped beschleunigt beschleunigte accelere acceleraient acelera acelero
    accelera|slowed verlangsamt verlangsamte bremst bremste ralentit ralentiza ralentizo rallenta""",
    """before vor avant antes prima|once""",
    """keep keeps kept behalten garde mantener mantenuto houd|discard drop dropped drops wegwerfen verworfen jette
    descartar scartare""",
    "accept accepts accepted angenommen accepte aceptado accettato|reject rejects rejected abgelehnt rejete rechazado",
    "push pushes pushed upload uploaded send sent|pull pulls pulled download downloaded receive received",
    "lock locks locked|unlock unlocks unlocked",
    """safe sicher sur seguro sicuro veilig безопасно|unsafe dangerous risky unsicher gefahrlich dangereux peligroso
    pericoloso gevaarlijk опасно""",
    "manual manually hand|automatic automatically automated",
    "public offentlich public publico pubblico|private privat prive privado privato",
    "first zuerst premier primero primo|last zuletzt dernier ultimo",
    "online|offline",
    "left links gauche izquierda sinistra|right rechts droite derecha destra",
)
_SIDES: Final[dict[str, set[tuple[int, int]]]] = {}
for _number, _row in enumerate(_OPPOSITES):
    for _side, _words_of_side in enumerate(_row.split("|")):
        for _word in _words_of_side.split():
            _SIDES.setdefault(_word, set()).add((_number, _side))
for _word, (_number, _side) in STATES.items():
    _SIDES.setdefault(_word, set()).add((_number + len(_OPPOSITES), _side))
_UNSPACED_OPPOSITES: Final = (
    "快 慢", "前 后", "前 後", "启用 禁用", "启用 停用", "成功 失败", "成功 失敗", "増 減", "增加 减少", "上升 下降",
    "提高 降低", "高 低", "多 少", "开 关", "打开 关闭", "有效 无效", "有効 無効", "安全 危险", "允许 禁止", "好 坏",
    "速 遅", "加快 减慢", "喜欢 讨厌", "可以 不能", "必须 不必", "先 后", "最初 最後", "総是 从不", "总是 从不", "必ず 決して", "開始 停止", "开始 停止", "添加 删除",
    "追加 削除", "修复 损坏", "빠르 느리", "전 후", "성공 실패", "증가 감소",
)  # fmt: skip
_UNSPACED_DENIALS: Final = re.compile(r"[不没沒無无未非别]|ない|ません|なかった|않|못|없")
_PREFIXES: Final = ("un", "in", "im", "ir", "il", "dis", "non", "de", "mis", "anti")
_WHEN: Final = re.compile(r"^(?:On|Last|This|Am|Letzten|Le|El|Il|In|Na|Op|W)(?: an?| the)? [^\W\d_]+(?: \d{1,2})?,? ")
"""When something happened, said first: not what happened."""
_UNSPACED: Final = re.compile(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORD: Final = re.compile(r"\d+(?:[.,:'’-]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|%")
_SAME: Final = tuple(
    frozenset(row.split())
    for row in (
        "prevent prevents prevented avoid avoids avoided avert averts spare spares saves",
        "error errors failure failures fault faults mistake mistakes bug bugs defect defects",
        "often frequently usually mostly regularly", "customer customers client clients buyer buyers",
        "check checks checked verify verifies verified test tests tested validate inspect", "useless worthless pointless",
        "shows show displays display prints", "cause causes caused makes leads produces triggers", "must should shall needs have",
        "needs requires demands takes", "run runs execute executes executed ran launch launches", "job task jobs tasks",
        "verhindert vermeidet verhutet", "fehler storung defekt", "oft haufig meist", "pruft kontrolliert testet",
        "empeche evite previent", "erreur faute defaut panne", "souvent frequemment", "verifie controle teste",
        "evita previene impide", "error fallo defecto", "menudo frecuentemente", "verifica comprueba controla revisa",
    )
)
"""Words that stand for one another."""
_FORMS: Final = frozenset(
    ["again", "also", "because", "but", "can", "could", "der", "die", "das", "dem", "den", "des", "ein", "eine", "einem", "einen", "einer", "for", "from", "its", "les", "los", "las", "del", "dass", "ever", "hat", "ist", "into", "just", "may", "mit", "must", "now", "our", "own", "per", "que", "qui", "quand", "cuando", "quando", "should", "since", "than", "that", "their", "them", "then", "there", "these", "they", "this", "those", "upon", "weil", "wenn", "when", "where", "which", "while", "who", "will", "with", "would", "war", "wird", "wurde", "werden", "sobald", "und", "oder", "par", "pour", "dans", "sur", "avec", "est", "sont", "une", "por", "para", "con", "una", "uno", "unos", "unas", "esta", "este", "son", "het", "een", "van", "voor", "bij", "wanneer"]
)
"""Small words whose change changes nothing that a list would not know."""
REPLACED_LEAST: Final = 3
"""So many telling words two texts share, in order, for one that differs to be doubt."""
REPLACED_MOST: Final = 400
"""Words or signs of a text that are compared one by one."""
_SMALL: Final = frozenset({"the", "did", "does", "was", "were", "had", "has", "have", "been", "are", "its", "and"})


def contrast(a: str, b: str) -> str:
    """What sets two claims against each other, in a few English words; "" where nothing does.

    The claims are taken to be alike as a whole: whether they are is for vectors to say.
    """
    first, second = _words(_without_when(a)), _words(_without_when(b))
    only_first, only_second = _only(first, second), _only(second, first)
    return (
        says_otherwise(a, b)
        or _other_numbers(only_first, only_second)
        or _other_days(only_first, only_second)
        or _other_names(a, b, only_first, only_second)
        or _replaced(first, second)
    )


def _without_when(text: str) -> str:
    found = _WHEN.match(text)
    return text[found.end() :] if found and any(map(is_date, _words(found[0]))) else text


def says_otherwise(a: str, b: str) -> str:
    """What of the second claim denies the first, as `contrast`; another number or name denies nothing."""
    return says_opposite(a, b) or _denial(a, b)


def says_opposite(a: str, b: str) -> str:
    """As `says_otherwise`, a mere denial left out: an outcome may deny what would have happened."""
    first, second = _words(a), _words(b)
    return (
        _opposites(_only(first, second), _only(second, first))
        or _unspaced_opposites(a, b)
        or _exchanged(a, b)
    )


def denies(text: str) -> bool:
    """Whether the text denies something, in any language of the lists."""
    return any(is_negation(word) for word in _words(text)) or _UNSPACED_DENIALS.search(text) is not None


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    return tuple(plain(found) for found in _WORD.findall(text))


def plain(text: str) -> str:
    """Lower case without accents: how words are compared."""
    folded = unicodedata.normalize("NFKD", text.casefold().replace("’", "'"))
    return "".join(one for one in folded if not unicodedata.combining(one))


def _only(words: Sequence[str], others: Sequence[str]) -> list[str]:
    there = set(others)
    return [word for word in words if word not in there]


def _other_numbers(first: Sequence[str], second: Sequence[str]) -> str:
    """Where both sides have a number that the other has not, however it is written."""
    ours = [word for word in first if is_number(word)]
    theirs = [word for word in second if is_number(word)]
    left = [one for one in ours if all(surely_other_number(one, other) for other in theirs)]
    right = [one for one in theirs if all(surely_other_number(one, other) for other in ours)]
    return f"{left[0]} against {right[0]}" if left and right else ""


def _other_days(first: Sequence[str], second: Sequence[str]) -> str:
    left, right = next(filter(_is_day, first), ""), next(filter(_is_day, second), "")
    return f"{left} against {right}" if left and right else ""


def _is_day(word: str) -> bool:
    return is_date(word) and not is_number(word)


def _opposites(first: Sequence[str], second: Sequence[str]) -> str:
    for one in first:
        for other in second:
            sides = _SIDES.get(one, set())
            opposed = any((number, 1 - side) in _SIDES.get(other, ()) for number, side in sides)
            if opposed or _prefixed(one, other) or _prefixed(other, one):
                return f"{one} against {other}"
    return ""


def _prefixed(word: str, other: str) -> bool:
    return len(word) >= 4 and any(other == prefix + word for prefix in _PREFIXES)


def _unspaced_opposites(a: str, b: str) -> str:
    if not (_UNSPACED.search(a) and _UNSPACED.search(b)):
        return ""
    for pair in _UNSPACED_OPPOSITES:
        one, other = pair.split(" ")
        for x, y in ((one, other), (other, one)):
            if x in a and y not in a and y in b and x not in b:
                return f"{x} against {y}"
    return ""


def _denial(a: str, b: str) -> str:
    """Where one of two texts in like words denies what the other says."""
    if denies(a) is denies(b):
        return ""
    first, second = _content(a), _content(b)
    shared = len(first & second)
    twins = shared >= TWIN_SHARE * max(1, len(first | second)) or shared >= HELD_SHARE * min(len(first), len(second))
    return "one denies it" if twins else ""


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    """The beginnings of the telling words; of scripts without spaces, every two signs that follow each other."""
    words = {word[:3] for word in _words(text) if len(word) >= 3 and word not in _SMALL and word not in NEGATIONS}
    signs = "".join(_UNSPACED.findall(_UNSPACED_DENIALS.sub("", text)))
    spaced = {word for word in words if not _UNSPACED.search(word) and not word.endswith("n't") and word != "nob"}
    return frozenset(spaced | {signs[at : at + 2] for at in range(len(signs) - 1)})


def _other_names(a: str, b: str, only_first: Sequence[str], only_second: Sequence[str]) -> str:
    """Where two texts in like words name different names: words with a capital inside the sentence."""
    first, second = _content(a), _content(b)
    if len(first & second) < NAMED_SHARE * max(1, len(first | second)):
        return ""
    left = next((name for name in _names(a) if name in only_first), "")
    right = next((name for name in _names(b) if name in only_second), "")
    return f"{left} against {right}" if left and right else ""


def _names(text: str) -> Iterator[str]:
    for found in re.finditer(r"(?<=[^\s.!?:] )[^\W\d_]+", text):
        if found[0][0].isupper():
            yield plain(found[0])


def _replaced(first: Sequence[str], second: Sequence[str]) -> str:
    """Where two texts are the same words in the same order but for one telling word: "hides" for "reveals".

    Whether that word is another one for the same or its opposite no list knows whole. Words of one side of an
    opposition, and forms of one word, are taken for the same; all else is doubt.
    """
    ours, theirs = ([sign for word in side for sign in _signs(word)] for side in (first, second))
    if max(len(ours), len(theirs)) > REPLACED_MOST:
        return ""
    blocks = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    changed = [(ours[a:b], theirs[c:d]) for tag, a, b, c, d in blocks if tag != "equal"]
    changed = [sides for sides in changed if any(map(_tells, (*sides[0], *sides[1])))]
    same = sum(_tells(word) for tag, a, b, _, _ in blocks if tag == "equal" for word in ours[a:b])
    left = [word for one, _ in changed for word in one if _tells(word)]
    right = [word for _, other in changed for word in other if _tells(word)]
    unspaced = any(map(_UNSPACED.match, (*left, *right)))
    if not unspaced and any(map(is_number, left)) and any(map(is_number, right)):  # compared as numbers already
        left, right = [[word for word in side if not is_number(word)] for side in (left, right)]
    if same < REPLACED_LEAST or not (left and right):
        return ""
    most = 3 if unspaced else 1
    if len(left) > most or len(right) > most or len(changed) > most or _is_like(left[0], right[0]):
        return ""
    return f"{' '.join(left)} against {' '.join(right)}"


def _signs(word: str) -> Sequence[str]:
    """A word of a script without spaces sign by sign; every other as it is."""
    return tuple(word) if _UNSPACED.search(word) else (word,)


def _tells(word: str) -> bool:
    if _UNSPACED.match(word):
        return True
    return is_number(word) or (len(word) > 2 and word not in _SMALL and word not in _FORMS)


def _is_like(word: str, other: str) -> bool:
    """Whether the two are forms of one word, or stand on one side of an opposition."""
    if word[:4] == other[:4] or _SIDES.get(word, set()) & _SIDES.get(other, set()):
        return True
    return any(word in group and other in group for group in _SAME)


def _exchanged(a: str, b: str) -> str:
    """Where two texts of the same words have two of them exchanged: tabs over spaces, spaces over tabs.

    Of scripts without spaces: the same signs in another order, the clauses not the same.
    """
    ours = [word for word in _words(a) if word not in _SMALL]
    theirs = [word for word in _words(b) if word not in _SMALL]
    if _UNSPACED.search(a) and sorted("".join(ours)) == sorted("".join(theirs)):
        return "" if sorted(ours) == sorted(theirs) else "the same signs in another order"
    if len(ours) != len(theirs) or sorted(ours) != sorted(theirs):
        return ""
    moved = [at for at, (one, other) in enumerate(zip(ours, theirs, strict=True)) if one != other]
    if len(moved) == 2 and min(len(ours[at]) for at in moved) >= 3:
        return f"{ours[moved[0]]} and {ours[moved[1]]} exchanged"
    return ""
