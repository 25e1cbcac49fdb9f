"""What sets two claims in like words against each other: numbers, days, names, denials, opposites, exchanged roles.

A vector cannot tell "faster" from "slower". Doubt is a contrast: a lesson that waits a night costs less than a wrong
one. In the languages that the lists below know; numbers, names and exchanged roles need no list.
"""

from __future__ import annotations

import re
import unicodedata
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
    """raise raised raises raising increase increased increases grow grew grows up rise rose rises higher more longer
    erhoht erhohen gestiegen mehr langer hoher augmente augmenter monte plus aumentar aumenta aumento subir subio mas
    aumentare aumentato piu subiu mais verhoogd meer podniesiono wiecej повысили увеличили больше выше|lower lowered
    lowers lowering decrease decreased decreases reduce reduced reduces drop dropped drops shrink shrank cut down fall
    fell falls less fewer shorter gesenkt senken reduziert gesunken weniger kurzer niedriger diminue diminuer reduit
    baisse baisser moins reducir reducido reduce bajar bajo menos ridotto ridurre diminuito meno reduzido reduziu
    verlaagd minder obnizono mniej снизили уменьшили меньше ниже""",
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
    """high large big long early hoch gross lang fruh haut grand tot alto grande largo temprano presto hoog groot vroeg
    высокий большой рано|low small little short late niedrig klein kurz spat bas petit tard bajo pequeno corto tarde
    basso piccolo tardi laag klein laat низкий маленький поздно""",
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
    "速 遅", "先 后", "最初 最後", "総是 从不", "总是 从不", "必ず 決して", "開始 停止", "开始 停止", "添加 删除",
    "追加 削除", "修复 损坏", "빠르 느리", "전 후", "성공 실패", "증가 감소",
)  # fmt: skip
_UNSPACED_DENIALS: Final = re.compile(r"[不没沒無无未非别]|ない|ません|なかった|않|못|없")
_PREFIXES: Final = ("un", "in", "im", "ir", "il", "dis", "non", "de", "mis", "anti")
_WHEN: Final = re.compile(r"^(?:On|Last|This|Am|Letzten|Le|El|Il|In|Na|Op|W)(?: an?| the)? [^\W\d_]+(?: \d{1,2})?,? ")
"""When something happened, said first: not what happened."""
_UNSPACED: Final = re.compile(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORD: Final = re.compile(r"\d+(?:[.,:'’-]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|%")
_SMALL: Final = frozenset({"the", "did", "does", "was", "were", "had", "has", "have", "been", "are", "its", "and"})


def contrast(a: str, b: str) -> str:
    """What sets two claims against each other, in a few English words; "" where nothing does.

    The claims are taken to be alike as a whole: whether they are is for vectors to say.
    """
    first, second = _words(_WHEN.sub("", a)), _words(_WHEN.sub("", b))
    only_first, only_second = _only(first, second), _only(second, first)
    return (
        says_otherwise(a, b)
        or _other_numbers(only_first, only_second)
        or _other_days(only_first, only_second)
        or _other_names(a, b, only_first, only_second)
    )


def says_otherwise(a: str, b: str) -> str:
    """What of the second claim denies the first, as `contrast`; another number or name denies nothing."""
    first, second = _words(a), _words(b)
    return (
        _opposites(_only(first, second), _only(second, first))
        or _unspaced_opposites(a, b)
        or _denial(a, b)
        or _exchanged(first, second)
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


def _exchanged(first: Sequence[str], second: Sequence[str]) -> str:
    """Where two texts of the same words have two of them exchanged: tabs over spaces, spaces over tabs."""
    ours = [word for word in first if word not in _SMALL]
    theirs = [word for word in second if word not in _SMALL]
    if len(ours) != len(theirs) or sorted(ours) != sorted(theirs):
        return ""
    moved = [at for at, (one, other) in enumerate(zip(ours, theirs, strict=True)) if one != other]
    if len(moved) == 2 and min(len(ours[at]) for at in moved) >= 3:
        return f"{ours[moved[0]]} and {ours[moved[1]]} exchanged"
    return ""
