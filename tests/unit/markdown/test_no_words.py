"""What is no word, whoever asks: the judge, the ranking, the vectors, the excerpts and the lengths."""

from __future__ import annotations

import base64
import hashlib
import random
import uuid

import pytest

from aria_dream.judging.triage_prompt import local_excerpt
from aria_dream.markdown.body import join_spans
from aria_dream.markdown.no_words import is_random, no_words
from aria_dream.markdown.note import parse_note
from aria_dream.markdown.scan import scan_note
from aria_dream.ranking.embedding import passages, prose
from aria_dream.ranking.terms import note_terms, term_ids

BYTES = random.Random(7).randbytes(3_000)
PNG = f"data:image/png;base64,{base64.b64encode(BYTES).decode()}"
FOLDED = f"data:image/png;base64,{base64.encodebytes(BYTES).decode().strip()}"
SVG = "data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg'><text>photo of lichen (grey)</text></svg>"
SVG_CODED = "data:image/svg+xml,%3Csvg%20xmlns=%22http://x%22%3E%3Ctext%3Ephoto%20lichen%3C/text%3E%3C/svg%3E"

PASTED = [
    f"![photo]({PNG})",
    f"![photo](<{PNG}>)",
    f'![photo]({PNG} "photo")',
    f"![photo]({PNG.upper().replace('BASE64', 'base64')})",
    f"[![photo]({PNG})](https://example.org/photo)",
    f"![photo](data:image/jpeg;charset=utf-8;base64,{base64.b64encode(BYTES).decode()})",
    f"![photo]({SVG_CODED})",
    f"![photo][photo]\n\n[photo]: {PNG}",
    f'<img alt="photo" src="{PNG}">',
    f"<img alt='photo' src='{FOLDED}'>",
    f'<img class="photo" src="{SVG}">',
    f'<audio controls title="photo" src="data:audio/mpeg;base64,{base64.b64encode(BYTES).decode()}"></audio>',
    f'<div style="background: url({PNG})" data-photo="photo"></div>',
    f'<style>\n.photo {{ background: url("{PNG}"); }}\n</style>',
    f"```css\n.photo {{ background: url({PNG}); }}\n```",
    f"| {PNG} |\n| --- |\n| ![photo]({PNG}) |",
    f"> [!photo]\n> ![photo]({PNG})",
    f"- ![photo]({PNG})",
    SVG,
    FOLDED,
    "![photo](https://example.org/photo/data/image.png)",
    "https://example.org/photo/data?image=photo",
    "<https://example.org/photo>",
    "www.example.org/photo, photo@example.org",
    "`photo data image`",
    "```python\nphoto = data(image)\n```",
    "%% photo %%",
    "<!-- photo -->",
    f"{hashlib.sha256(BYTES).hexdigest()} {uuid.UUID(bytes=BYTES[:16])} 0426c70",
    hashlib.md5(BYTES).hexdigest().upper(),
    "AKfycbx7Jd92kQ0sLm3Tn4Pq5Rv6Wx8Yz1 eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0",
    "Photo:: [[x]]",
    "- [ ] Photo:: #x",
    "> (photo:: 3)",
    "Photo: [[x]]\nImage: #x",
    "**Photo**: 2026-11-30",
    "Photo： #x\n图像：[[x]]",
]


def words_of(text: str) -> str:
    at, kept = 0, []
    for start, end in join_spans(no_words(text)):
        kept.append(text[at:start])
        at = end
    return " ".join((*kept, text[at:])).casefold()


@pytest.mark.parametrize("held", PASTED)
def test_what_is_no_word_is_none_for_any_tier(held: str) -> None:
    text = f"Tea wants water.\n\n{held}\n\nIt steeps.\n"
    note = parse_note(text)
    read = prose(note).casefold()
    embedded = " ".join(passage.text for passage in passages("Tea", note)).casefold()
    terms = note_terms(text)
    spoken = set(terms.ids.tolist()) | set(terms.link_ids.tolist())
    for word in ("photo", "image", "data", "base64", "lichen", "png"):
        assert word not in read
        assert word not in embedded
        assert not spoken & set(term_ids(word))
    assert read.split()[:3] == ["tea", "wants", "water."]
    assert read.split()[-2:] == ["it", "steeps."]
    assert scan_note(text).words <= 8


@pytest.mark.parametrize("held", [line for line in PASTED if "base64" in line or "AKfy" in line])
def test_a_judge_that_is_a_model_reads_no_data(held: str) -> None:
    excerpt = local_excerpt("Tea", parse_note(f"Before.\n\n{held}\n\nBehind.\n")).text
    assert "Before." in excerpt
    assert "Behind." in excerpt
    assert max(map(len, excerpt.split())) < 60


def test_a_picture_at_the_beginning_hides_nothing_of_what_follows() -> None:
    data = base64.b64encode(random.Random(1).randbytes(60_000)).decode()
    note = parse_note(f"![a](data:image/png;base64,{data})\n\nThe culture must be fed.\n")
    assert "The culture must be fed." in prose(note)
    assert "The culture must be fed." in local_excerpt("A", note).text


@pytest.mark.parametrize(
    "text",
    [
        "The data: images and photos of lichen.",
        "A decade of facade work, 1990 and 2000000, TypeScriptCompilerOptions, Rindfleischetikettierungsgesetz",
        "2023-11-20-some-long-title-of-a-note and getUserByName",
        "Sourdough: flour and water that are kept warm.",
        "Levain: it is French.\nStarter: it is English.",
        "He said: wait. Then: nothing.",
        "std::vector holds lichen",
        "a note at 10.30 in room 10.2",
    ],
)
def test_words_stay(text: str) -> None:
    assert words_of(text).split() == text.casefold().split()


def test_the_label_of_a_field_goes_and_its_value_stays() -> None:
    assert words_of("method:: slow rise\n(way:: cold) [mood:: calm]").split() == [
        "slow", "rise", "(", "cold)", "[", "calm]",
    ]  # fmt: skip
    assert words_of("Author: Ann Lee\nYear: 2020").split() == ["ann", "lee", "2020"]


def test_names_of_properties_are_no_words_and_their_values_are() -> None:
    terms = note_terms("---\nphoto: lichen\ntags: [moss]\n---\nTea.\n")
    assert not set(terms.ids.tolist()) & set(term_ids("photo tags"))
    assert set(terms.ids.tolist()) >= set(term_ids("lichen moss tea"))


def test_addresses_and_data_make_no_note_long() -> None:
    filler = "\n".join(f"- https://example.org/{number}" for number in range(60))
    assert scan_note(f"Some words stand here.\n\n{filler}\n").words == 4
    assert scan_note(f"Some words stand here.\n\n{FOLDED}\n").words == 4


@pytest.mark.parametrize("token", ["iVBORw0KGgoAAAANSUhEUgAA", "k3j9d8f7s6a5q2w1", "eyJhbGciOiJIUzI1NiJ9"])
def test_random_strings(token: str) -> None:
    assert is_random(token)


@pytest.mark.parametrize(
    "text",
    [
        "data:" * 50_000, "![" * 50_000, "a1" * 100_000, "x:" * 50_000, "://" * 50_000,
        "data:image/png;base64," * 9_000,
        "[^" * 50_000, "@a" * 50_000, "A1 " * 60_000, "漢1a" * 40_000,
    ],
)  # fmt: skip
def test_any_text_is_read(text: str) -> None:
    assert all(0 <= start < end <= len(text) for start, end in no_words(text))
