"""Whatever a private note is called and however others mention it: neither its text nor its name is in a prompt."""

from __future__ import annotations

import re
import tempfile
import unicodedata
from dataclasses import replace
from datetime import date
from pathlib import Path
from urllib.parse import quote

from hypothesis import given, settings
from hypothesis import strategies as st

from aria_dream.adapters.codex.reach_asks import Question, pair_question, seed_question
from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.index.live_policy import shipped_prompt
from aria_dream.judging.prompt_text import Datamark
from aria_dream.notes.seeds import Seed, new_seed
from aria_dream.ranking.juxtaposition import Juxtaposition, Survivor
from aria_dream.reach.reach import reach_prompt

TITLE, ALIAS, BODY = "Projekt Käuzchen", "Waldohreule 7", "Zibetkatzenkanarie"
WAYS = {
    "folder": ("- never_send: Vault/Geheim\n", "Vault/Geheim/", ""),
    "excluded": ("- exclude: Geheim/*\n", "Geheim/", ""),
    "tag": ("", "", "#Private/inner\n"),
    "listed tag": ('- never_send: "#therapie"\n', "", "#Therapie\n"),
    "property": ("", "", ""),
}
LOOK_ALIKES: list[dict[str, str | int | None]] = [
    {"a": "\u0430", "e": "\u0435"}, {"o": "\u03bf", "P": "\u0420"}, {"l": "1"}, {"l": "I", "o": "0"}, {"k": "\u1d0b"}
]  # fmt: skip
SPLITS = ["\u200b", "\u00ad", "\u2060", "\u3164", "\u2800", "\x00", "\u202e", "\ufe0f", "\U000e0041", "**", "`", "~~"]


def forms(name: str, folder: str) -> st.SearchStrategy[str]:
    """The name as somebody may write it."""
    spelled = st.sampled_from(
        [
            name,
            name.upper(),
            name.lower(),
            unicodedata.normalize("NFD", name),
            unicodedata.normalize("NFD", name.upper()),
            name.replace(" ", "\u00a0"),
            name.replace(" ", "-"),
            name.replace(" ", "_"),
            name.replace(" ", "\n"),
            name.replace(" ", "** *"),
            quote(name),
            quote(name.upper()),
            name.replace("ä", "&auml;"),
            f"**{name.split(' ', maxsplit=1)[0]}** {name.split(' ')[1]}",
            "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in name),
            *(name.translate(str.maketrans(alike)) for alike in LOOK_ALIKES),
            unicodedata.normalize("NFD", name).replace("e", "e\u0332").replace("j", "j\u0308"),
            f"\u202e{name[::-1]}\u202c",
        ]
    )
    split = st.builds(
        lambda text, mark, at: f"{text[: 1 + at % (len(text) - 1)]}{mark}{text[1 + at % (len(text) - 1) :]}",
        spelled,
        st.sampled_from(SPLITS),
        st.integers(0, 30),
    )
    wrapped = st.sampled_from(
        ["{}", "[[{}]]", "![[{}]]", "[[{}|etwas]]", "[[{}#Teil|etwas]]", "{}.md", "„{}“", "x{}", f"{folder}{{}}",
         "[da]({}.md)", "`{}`", "<b>{}</b>"]
    )  # fmt: skip
    return st.builds(lambda frame, text: frame.replace("{}", text), wrapped, spelled | split)


def bare(text: str) -> str:
    """Letters and digits as a reader would take them."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    decoded = re.sub(r"%c3%a4|%cc%88", "ä", folded).replace("%20", "")
    plain = unicodedata.normalize("NFC", decoded.replace("\u0332", "").replace("j\u0308", "j"))
    alike = {
        ord(look): plain
        for each in LOOK_ALIKES
        for plain, look in each.items()
        if isinstance(look, str) and not look.isascii()
    }
    seen = plain.translate(alike).casefold().translate(str.maketrans("i1|0", "lllo"))
    return "".join(character for character in seen if character.isalnum())


@settings(max_examples=60, deadline=None)
@given(
    way=st.sampled_from(sorted(WAYS)),
    mentions=st.sampled_from(["Vault/Geheim/", "Geheim/", ""]).flatmap(
        lambda folder: st.lists(forms(TITLE, folder) | forms(ALIAS, folder), min_size=6, max_size=6)
    ),
    eol=st.sampled_from(["\n", "\r\n"]),
)
def test_no_word_of_a_private_note_is_in_a_prompt(way: str, mentions: list[str], eol: str) -> None:
    policy, folder, mark = WAYS[way]
    own = "dream: false\n" if way == "property" else ""
    head = f"---\n{own}aliases: [{ALIAS}]\n---\n{mark}"
    notes = {
        "dreaming.md": f"---\naria-dream: policy\n---\n{policy}",
        f"{folder}{TITLE}.md": f"{head}\n{BODY} {BODY}. [[First]]\n",
        "First.md": f"Anfang {mentions[0]} Ende.{eol}Noch {mentions[1]}, dann ![[{TITLE}]].{eol}",
        "Second.md": f"Anderes [[{folder}{TITLE}|kurz]] und {mentions[2]}.{eol}",
    }
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch, "vault")
        for name, text in notes.items():
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode("utf-8", "surrogatepass"))
        vault = read_dreamt_vault(root, Places(state=Path(scratch, "s"), cache=Path(scratch, "c")), environ={})
        assert not vault.sharing.closed
        private = f"{folder}{TITLE}.md"
        pair = Juxtaposition(from_="First.md", to="Second.md", score=0.5, path=("First.md", private, "Second.md"))
        reason = f"both speak of {mentions[3]}"
        survivor = Survivor(juxtaposition=pair, probability=0.9, reason=reason, judge="a judge")
        made = new_seed("external-novelty", "Was", date(2026, 11, 30), source="https://example.org/a")
        assert isinstance(made, Seed)
        touched = f"[[{TITLE}]] und {mentions[0]}"
        seed = replace(made, title=f"Was {mentions[4]} sagt", struck=f"wegen {mentions[5]}", resonance=touched)
        inward = Juxtaposition(from_="First.md", to=private, score=0.5, path=("First.md", private))
        told = Survivor(juxtaposition=inward, probability=0.9, reason="ja", judge="a judge")
        assert not isinstance(pair_question(vault, told, note="x.md", origin="y"), Question)
        for question in (pair_question(vault, survivor, note="x.md", origin="y"), seed_question(vault, seed)):
            if isinstance(question, Question):
                prompt = shipped_prompt("dream-reach").prompt
                text = reach_prompt(prompt, Datamark("nonce"), question.ask, max_web_turns=3)
                for secret in (TITLE, ALIAS, BODY):
                    assert bare(secret) not in bare(text), text[text.index("Kind:") :]
                assert "https://example.org/a" in text or question.kind == "internal"

