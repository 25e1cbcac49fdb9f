"""Where a note goes that nobody has named: words of its claim, a name that is free, the folder for new notes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aria_dream.judging.prompt_text import harmless_text
from aria_dream.notes.plain_text import clean
from aria_dream.policy.policy import POLICY_NAMES
from aria_dream.policy.triggers import TRIGGERS_NAMES
from aria_dream.ranking.function_words import function_words
from aria_dream.reach.citation import inert
from aria_dream.vault.edit import Refusal
from aria_dream.vault.names import fold_path, parse_target, shorten_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from aria_dream.policy.file_layout import Home, VaultNames
    from aria_dream.vault.obsidian import AppSettings

LONGEST_NAME = 60
"""Characters of a new note's name, `.md` left out: a claim is a sentence, and a name is read in a list."""
_NAMES_TRIED = 50
_LEAST_WORDS = 3
_NOT_IN_LINKS = re.compile(r"[\[\]#^|%{}$`*_~=]+")
"""What Obsidian lets no link name, or Markdown acts on."""
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]")


def orphan_folder(app: AppSettings, home: Home) -> str:
    """The folder for a new note, as the vault's settings say; `""` is the root. Never our own folder."""
    folder = app.new_file_folder.strip("/") if app.new_file_location == "folder" else ""
    inside = fold_path(f"{folder}/").startswith(fold_path(f"{home.folder}/"))
    return "" if inside else folder


def free_places(claim: str, folder: str, names: VaultNames, taken: Collection[str]) -> Iterator[str]:
    """Vault paths that the new note may get, the best first: free on every disk, and looked up by no link anywhere."""
    stem = _stem(claim)
    start = f"{names.spelled(folder)}/" if folder else ""
    held = set(map(fold_path, taken))
    for number in range(1, _NAMES_TRIED + 1):
        path = f"{start}{shorten_name(stem if number == 1 else f'{stem} {number}')}"
        if names.is_free(path) and fold_path(path) not in held and not isinstance(parse_target(path), Refusal):
            yield path


def _hangs(word: str) -> bool:
    """Whether a name that was cut behind `word` would seem to go on."""
    return len(word) <= 3 or word.casefold() in function_words(None)


def _stem(claim: str) -> str:
    """The claim's first words as a name. One that is a single word, or ours, gets one before it: such names are what
    links and other programs look up."""
    sentence = _SENTENCE_END.split(clean(inert(harmless_text(claim))), maxsplit=1)[0] or claim
    plain = clean(_NOT_IN_LINKS.sub(" ", sentence))
    plain = re.sub(r"[<>:\"/\\?!.,;‹›]+", " ", plain)
    words = plain.split()
    kept = len(words)
    while kept and len(" ".join(words[:kept])) > LONGEST_NAME:
        kept -= 1
    while _LEAST_WORDS < kept < len(words) and _hangs(words[kept - 1]):
        kept -= 1
    stem = " ".join(words[:kept]) or clean(plain)[:LONGEST_NAME].strip() or "Untitled"
    ours = {name.removesuffix(".md") for name in (*POLICY_NAMES, *TRIGGERS_NAMES)}
    alone = " " not in stem or not re.search(r"[^\W\d_]", stem)
    if not (alone or fold_path(stem) in ours):
        return stem
    return f"{stem} of a reach" if fold_path(stem).startswith("claim") else f"Claim {stem}"
