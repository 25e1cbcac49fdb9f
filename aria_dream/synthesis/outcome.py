# ruff: noqa: E501 - lists of words, one kind a line
"""Whether an outcome speaks for what was done: what went wrong, was taken back, or was not done.

A failure that was caught, prevented or did not happen is no failure: "no broken build", "two wrong numbers were found
in time". Several languages; of those without spaces a clause is read whole.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aria_dream.synthesis.contrast import denies, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

NEAR: Final = 4
"""Words on either side of a denial that it may deny."""

_CLAUSE = re.compile(r"[,;:.!?、。，；]|\b(?:and|but|while|und|aber|et|mais|y|pero|e|ma|mas|en|maar)\b", re.IGNORECASE)
_BAD = re.compile(
    r"\b(?:fail(?:ed|s|ure|ures|ing)?|br[eo]ke\w*|crash\w*|lost|loss|corrupt\w*|worse\w*|outages?|incidents?|regress\w*"
    r"|complain\w*|leak\w*|wrong(?:ly)?|slower|harm\w*|disaster\w*|useless|pointless|damag\w*|broken"
    r"|gescheitert|fehlgeschlagen|schiefgegangen|schlimmer|schlechter|verloren|ausgefallen|ausfall\w*|kaputt|beschwer\w*"
    r"|(?:echoue|pire|perdu|plante|casse)e?s?|pannes?|plaintes?"
    r"|fallo|fallos|fallado|peor|perdid[oa]s?|queja\w*|fallit[oa]|peggio|pers[oa]|guast[oaie]"
    r"|falhou|pior|perdid[oa]|mislukt|slechter)\b|ошибк|провал|хуже|потеря|失败|失敗|丢失|悪化|실패"
)
_TAKEN_BACK = re.compile(
    r"\b(?:turned|switched|rolled|taken|put|changed|moved|backed) (?:it |them )?(?:off|back|out)\b(?: again)?|\b(?:revert|undid"
    r"|undone|withdr[ae]w|disabled again|removed again|stopped again|gave up|given up|backfir|abandon)\w*"
    r"|\b(?:anyway|nevertheless|regardless|in spite of|despite (?:it|that|the (?:directive|rule|order)))\b|\b(?:was|were|been"
    r"|got) (?:ignored|skipped|forgotten|overlooked|disregarded|bypassed|not followed|not done)\b|\b(?:forgot|ignored|skipped) "
    r"(?:to|it|the|this)\b"
    r"|\b(?:ruckgangig|zuruckgenommen|zuruckgerollt|wieder (?:aus|ab)\w*|trotzdem|vergessen|ignoriert|ausgelassen)\b"
    r"|\b(?:annule|oublie|ignore)e?s?\b|\bquand meme\b|\b(?:revertid|olvidad|ignorad|annullat|dimenticat|ignorat|desfeit|esquecid)[oa]s?\b"
    r"|\b(?:teruggedraaid|vergeten|genegeerd)\b|отмен|забы|回滚|取り消|忘れ|忘记|撤回|변경 취소"
)
_NO_USE = re.compile(
    r"\b(?:not|never|n't|nicht|nie|kein\w*|no|pas|non) (?:\w+ ){0,2}(?:help\w*|work\w*|hold|last|pay|better|use|effect|difference"
    r"|change anything|geholfen|funktioniert|besser|aide\w*|marche\w*|fonctionne\w*|servi\w*|ayud\w*|funcion\w*|sirvio"
    r"|aiutat\w*|funzionat\w*)\b|\b(?:made no|makes no|without|hatte keine) (?:difference|effect|wirkung)\b|没有(?:用|效果|帮助)|无效"
)
_WARDED_BEFORE = re.compile(
    r"\b(?:not|no|never|nothing|nobody|none|neither|nor|without|fewer|less|prevent\w*|avoid\w*|stop\w*|spare\w*|saved (?:us|me|a|an|one)|caught|catch\w*|instead of|n't"
    r"|kein\w*|nicht\w*|nie|niemand|ohne|weniger|verhinder\w*|vermied\w*|pas|aucune?|jamais|rien|sans|moins|evit\w*|empech\w*"
    r"|ningun\w*|nunca|nada|nadie|sin|menos|nessun\w*|mai|senza|meno|nenhum\w*|sem|geen|niet|zonder|нет|не|без)"
    r"(?: [\w'’-]+){0,4} $|(?:没有|没|不|无|避免|防止)\w{0,4}$"
)
_WARDED_AFTER = re.compile(
    r"^(?:[\w'’-]* ){0,6}(?:in time|beforehand|caught|prevented|avoided|disappeared|vanished|ceased|stopped|gone|rechtzeitig|verhindert"
    r"|vermieden|verschwunden|a temps|evitee?s?|disparu\w*|a tiempo|evitad[oa]s?|desaparec\w*|in tempo|evitat\w*)\b"
)


def outcome_clauses(outcome: str) -> list[str]:
    """The clauses of an outcome, each of which fails, holds or denies for itself."""
    return [one for one in _CLAUSE.split(outcome) if one and one.strip()]


def went_wrong(outcome: str) -> bool:
    """Whether something failed, was taken back, was not done, or was of no use."""
    said = plain(outcome)
    if _TAKEN_BACK.search(said) or _NO_USE.search(said):
        return True
    return any(_is_failure(clause, found) for clause in outcome_clauses(said) for found in _BAD.finditer(clause))


def _is_failure(clause: str, found: re.Match[str]) -> bool:
    start = max(0, found.start() - 60)
    before, after = clause[start : found.start()], clause[found.end() : found.end() + 80].lstrip()
    return not (_WARDED_BEFORE.search(before) or _WARDED_AFTER.search(after))


def denied_parts(clause: str) -> Iterator[str]:
    """What each denial of a clause may deny: the words around it, a clause of a script without spaces whole."""
    words = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", clause)
    near = [at for at, word in enumerate(words) if denies(word)]
    yield from (" ".join(words[max(0, at - NEAR + 1) : at + NEAR + 1]) for at in near)
