# ruff: noqa: E501 - one kind of order a line
"""Words that order the reader of a memory about: what somebody wrote into a source so that an agent obeys it."""

from __future__ import annotations

import re
from typing import Final

_ALL = r"\b(?:all|every|any|each|this|these|pending|open|alle\w*|jede\w*|tous|tout|toutes|chaque|tod[oa]s?|cada|tutt\w*|ogni|wszystk\w*|все\w*)\b"
_GRANT = (
    r"(?:approv|accept|merg|confirm|ratif|genehmig|annehm|akzeptier|freigeb|approuv|accept|aprob|aprueb|acept|accett|aprov|aceit"
    r"|goedkeur|zatwierdz|одобр|утверд)\w*"
)
_GRANTED = r"(?:candidat|kandidat|proposal|lesson|vorschl|proposition|propuest|propost|предложени|кандидат)\w*"

ORDERS: Final = re.compile(
    "|".join(
        (
            (r"\b(?:ignor(?:e|es|ing)|disregard|disregarding|forget|overrid\w*|bypass\w*)\b[^.]{0,60}\b(?:instruction|prompt|direction"
            r"|guideline|safeguard|guardrail|safety|rules?|anything above|everything above)"),
            r"\b(?:instruction|prompt|guideline)s?\b[^.]{0,40}\bbe (?:ignored|disregarded|forgotten|overridden|bypassed)\b",
            r"\bdisregard\b[^.]{0,20}\b(?:anything|everything|all)\b",
            r"\b(?:ignorier|vergiss|missacht|ubergeh)\w*\b[^.]{0,60}\b(?:anweisung|vorgabe|prompt)",
            (r"\b(?:ignore[zr]?\b|oublie|neglige|ignora|olvida|dimentica|esqueca|desconsidere|negeer|vergeet|zignoruj|zapomnij)\w*[^.]{0,60}"
            r"\b(?:instruct|consigne|instruccion|indicacion|istruzion|instruco|instructie|instrukcj|polecen)"),
            r"(?:игнорир|забуд)\w*[^.]{0,60}(?:инструкц|указани)|(?:忽略|无视|無視)[^。]{0,20}(?:指令|指示|提示)|(?:指令|指示)[^。]{0,10}無視",
            rf"\b{_GRANT}\b[^.]{{0,40}}{_ALL}[^.]{{0,20}}\b{_GRANTED}|^\W*(?:please |bitte )?{_GRANT}\b[^.]{{0,40}}\b{_GRANTED}",
            rf"{_ALL}[^.]{{0,20}}\b{_GRANTED}\b[^.]{{0,40}}\b{_GRANT}",
            r"\bcandidates?\b[^.]{0,40}\b(?:approved|accepted|merged|confirmed)\b|\b(?:approv|accept|merg|confirm)\w* (?:the )?candidates?\b",
            r"\bmark\w*\b[^.]{0,40}\b(?:candidate|proposal|lesson)s?\b[^.]{0,20}\bas\b|['\"“]?\bapproved\b['\"”]? (?:in|into|as)\b",
            r"(?:批准|通过|同意|承認)[^。]{0,12}(?:提案|候选|建议|候補)|(?:提案|候选|建议|候補)[^。]{0,12}(?:批准|通过|承認)",
            r"\byou (?:are now|must now|will now|are an? (?:ai|assistant|agent|model))\b|\bas (?:an? (?:ai|language model)|the assistant)\b",
            r"\b(?:agents?|assistants?|ai|models?|llms?|bots?)\b (?:that |who |which )?read(?:s|ing)?\b[^.]{0,40}\b(?:must|shall|should|has to|have to|will)\b",
            r"\b(?:trust|obey|believe) this (?:file|note|memory|text|document|entry)\b|\bdeveloper mode\b|\bsystem override\b|\bjailbreak",
            r"\bgehorch\w* (?:du )?(?:nur )?(?:mir|ihr)\b|\bobeis\w* (?:seulement )?a moi\b|\bobedece\w* (?:solo )?a mi\b|服从|听从(?:我|这)",
            r"\bsystem prompt\b|<\|?(?:im_start|im_end|system|user|assistant)\b|\[/?inst\]|^(?:system|assistant|developer) ?:",
            (r"\b(?:do not|don't|never|without) (?:tell|telling|mention|mentioning|inform|informing|notify|asking|ask) (?:this to )?"
            r"(?:the |your )?(?:user|operator|human|writer|owner)\b"),
            (r"\b(?:reveal|print|send|post|e-?mail|upload|leak|exfiltrate)\b[^.]{0,40}\b(?:your|the|all) (?:secret|api key|token"
            r"|password|credential|system prompt|instruction)s?\b[^.]{0,20}\b(?:to|at|on)\b"),
            r"\b(?:sag|sagt|erzahl)\w* (?:es )?(?:niemand\w*|dem (?:nutzer|benutzer) nicht)\b|\bniemand\w* (?:etwas|davon) (?:sagen|erzahlen)\b",
            r"\bne (?:le )?dis (?:rien|pas)\b|\bno (?:se )?lo digas\b|\bnon dirlo\b|不要告诉|别告诉|你现在是|从现在起你",
            r"\b(?:du bist (?:jetzt|nun|ab jetzt)|tu es (?:maintenant|desormais)|vous etes (?:maintenant|desormais)|ahora eres|ora sei)\b",
            r"\bfrom now on,? (?:you|always obey|act|behave|pretend)\b|\b(?:pretend|act) (?:to be|as (?:if|though) you)\b",
            r"\bnew (?:system )?instructions? ?:|\bcurl\b[^|]{0,80}\| ?(?:ba|z)?sh\b",
        )
    ),
    re.IGNORECASE,
)
"""A text that orders its reader about: an injection, or what reads like one. For `contrast.plain` text."""
