"""However a secret is noted and however a private name is turned: neither is in a prompt."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from datetime import date
from pathlib import Path

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

RANDOM, WORD = "Zx81mQpL0vRt63yWbN5cKd94uJfH", "igel77nest"
RIGHT_OF_EQUALS = ["HEAP={}", "export HEAP={}", 'heap = "{}"', "heap: {}", "Endpoint=x;AccountKey={};y=z", "a {} b"]
IN_A_LINE = [
    "password: {}", "Password:: {}", "(kennwort:: {})", "[mot de passe:: {}]", "contraseña = '{}'", "senha：{}",
    "Passwort „{}“", "das Passwort ist {}", "Login: anna / {}", "WLAN-Schlüssel: {}", "пароль: {}", "密码：{}",
    "パスワードは{}です", '"password": "{}"', "https://anna:{}@example.org/x", "Pwd={};User=sa",
]  # fmt: skip
IN_BLOCKS = [
    "| site | password |\n| --- | --- |\n| shop | {} |", "| Konto | Kennwort | x |\n|-|-|-|\n| a | `{}` | b |",
    "- Password\n  - shop: {}", "- Passwörter\n\t- {}", "secrets:\n  shop: {}\n", "passwords: [{}, b]",
    "## Password\n\n{}",
]  # fmt: skip
FIRST, LAST = "Waldemar", "Zibetkatze"
TURNED = [
    f"{LAST}, {FIRST}", f"{LAST} {FIRST}", f"W. {LAST}", f"{LAST}, W.", f"{LAST} W.", f"Wald. {LAST}", f"W {LAST}",
    f"{LAST.upper()}, {FIRST}", f"{LAST},{FIRST}", f"[[{LAST}, {FIRST}]]", f"Dr. W. {LAST} (1999)", f"{FIRST} {LAST}",
]  # fmt: skip

LINES = st.sampled_from([each.format(RANDOM) for each in RIGHT_OF_EQUALS] + [each.format(WORD) for each in IN_A_LINE])
BLOCKS = st.sampled_from([each.format(WORD) for each in IN_BLOCKS])
NAMES = st.sampled_from(TURNED)


@settings(max_examples=40, deadline=None)
@given(
    blocks=st.lists(BLOCKS | LINES | NAMES, min_size=1, max_size=4),
    lines=st.lists(LINES | NAMES, min_size=4, max_size=4),
    title=st.sampled_from(["Second", f"password {WORD}", f"Passwort = {WORD}", f"W. {LAST}", f"{LAST}, {FIRST}"]),
    quote=st.sampled_from(["", "> "]),
    eol=st.sampled_from(["\n", "\r\n"]),
)
def test_no_secret_and_no_turned_name_is_in_a_prompt(
    blocks: list[str], lines: list[str], title: str, quote: str, eol: str
) -> None:
    body = "\n\nA plain line.\n\n".join(blocks)
    body = "\n".join(quote + line for line in body.split("\n"))
    notes = {
        f"People/{FIRST} {LAST}.md": "---\ndream: false\n---\nShe is private.\n",
        "First.md": f"---\naliases: ['{WORD}']\n---\nBeginning.\n\n{body}\n\nEnd.\n",
        f"{title}.md": f"Another note.\n\n{lines[0]}\n",
    }
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch, "vault")
        for name, text in notes.items():
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.replace("\n", eol).encode())
        vault = read_dreamt_vault(root, Places(state=Path(scratch, "s"), cache=Path(scratch, "c")), environ={})
        assert not vault.sharing.closed
        pair = Juxtaposition(
            from_="First.md", to=f"{title}.md", score=0.5, path=("First.md", f"{title}.md", "First.md", f"{title}.md")
        )
        survivor = Survivor(juxtaposition=pair, probability=0.9, reason=f"both hold {lines[1]}", judge="a judge")
        made = new_seed("external-novelty", "Was", date(2026, 11, 30), source="https://example.org/a")
        assert isinstance(made, Seed)
        seed = replace(made, title=lines[2], struck=lines[3], resonance=lines[0])
        for question in (pair_question(vault, survivor, note="x.md", origin="y"), seed_question(vault, seed)):
            if isinstance(question, Question):
                prompt = shipped_prompt("dream-reach").prompt
                text = reach_prompt(prompt, Datamark("nonce"), question.ask, max_web_turns=3)
                for secret in (RANDOM, WORD, LAST.lower()):
                    assert secret.lower() not in text.lower(), text[text.index("Kind:") :]
