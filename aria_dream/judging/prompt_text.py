"""A prompt as its Markdown file says it, and data for a model's eyes that cannot pass for anything but data.

The file begins with the header `Placement: system`. What stands under `## Request` becomes the user's message, all
before it the system's. Comments and frontmatter are for people and are not sent. `{{name}}` is a placeholder.

Data is marked in three layers, after "Defending Against Indirect Prompt Injection Attacks With Spotlighting" (Hines
et al., 2024): a pair of sentinels with a nonce that is new for each call, a mark before every line between them, and a
text in which nothing is left that ends a sentinel, opens a role of a chat template, or is there without being seen.
Marking lowers how often a model obeys what it reads; it does not end it, so what an answer can do is bounded elsewhere.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING

from aria_dream.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST_PROMPT = 20_000
"""Characters; what is longer leaves a small model no room for the notes."""

_FRONTMATTER = re.compile(r"\A---[ \t]*\n.*?^---[ \t]*\n", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADER = re.compile(r"\A\s*Placement:[ \t]*(\S*)[ \t]*(?:\n|\Z)", re.IGNORECASE)
_REQUEST = re.compile(r"^## +Request[ \t]*$", re.MULTILINE | re.IGNORECASE)
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")
"""What `decode_note` makes of bytes that are no UTF-8, and what no text holds."""
_CHEAP = re.compile(r"[A-Za-z ]")
_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt whose placeholders are still open."""

    name: str
    """Of its file, without `.md`."""
    system: str
    """Text of the system's message; `""` where the header says `Placement: user`."""
    request: str
    """Text of the user's message."""

    @property
    def placeholders(self) -> frozenset[str]:
        """Every name that has to be filled in."""
        return frozenset(_PLACEHOLDER.findall(self.system + self.request))

    @property
    def hash(self) -> str:
        """SHA-256 of all that is sent, placeholders unfilled. 64 hex digits."""
        return sha256(f"{self.system}\0{self.request}".encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Messages:
    """What one call says."""

    system: str
    user: str


def parse_prompt(name: str, text: str, *, path: str = "", required: frozenset[str] = frozenset()) -> (
    tuple[Prompt | None, tuple[Problem, ...]]
):  # fmt: skip
    """The prompt, or None and what has to be mended in the file at `path`.

    `required` are the placeholders it must have, no less and no more; empty: any.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    if len(lines) > LONGEST_PROMPT:
        return None, (Problem(path, 0, f"this prompt has more than {LONGEST_PROMPT:,} characters; shorten it"),)
    if _NO_TEXT.search(lines):
        return None, (Problem(path, 0, "this file is no UTF-8 text; save it as UTF-8"),)
    if not lines.strip():
        return None, (Problem(path, 0, "this prompt is empty"),)
    body = _FRONTMATTER.sub(_blank, lines, count=1)
    body = _COMMENT.sub(_blank, body)
    header = _HEADER.match(body)
    placement = header[1].lower() if header else "system"
    if placement not in ("system", "user"):
        return None, (Problem(path, _line(body, r"(?i)Placement:"), "`Placement` must be system or user"),)
    body = body if header is None else _blank(header) + body[header.end() :]
    request = _REQUEST.search(body)
    if request is None:
        return None, (Problem(path, 0, "the heading `## Request` is missing"),)
    before, after = _tidy(body[: request.start()]), _tidy(body[request.end() :])
    prompt = (
        Prompt(name=name, system=before, request=after)
        if placement == "system"
        else Prompt(name=name, system="", request=f"{before}\n\n{after}".strip())
    )
    problems = tuple(_placeholder_problems(prompt, body, path, required)) if required else ()
    return (None if problems else prompt), problems


def _placeholder_problems(prompt: Prompt, body: str, path: str, required: frozenset[str]) -> list[Problem]:
    missing = [
        Problem(path, 0, f"the placeholder `{{{{{name}}}}}` is missing")
        for name in sorted(required - prompt.placeholders)
    ]
    unknown = [
        Problem(path, _line(body, rf"\{{\{{\s*{name}\s*\}}\}}"), f"`{{{{{name}}}}}` is no placeholder of this prompt")
        for name in sorted(prompt.placeholders - required)
    ]
    return missing + unknown


def fill_prompt(prompt: Prompt, values: Mapping[str, str]) -> Messages:
    """The messages. Each placeholder is filled once: braces inside a value stay what they are.

    Raises:
        KeyError: a placeholder has no value; `parse_prompt` with `required` prevents it.
    """

    def filled(text: str) -> str:
        return _PLACEHOLDER.sub(lambda found: values[found[1]], text)

    return Messages(system=filled(prompt.system), user=filled(prompt.request))


def estimate_tokens(text: str) -> int:
    """At least as many tokens as a usual tokenizer makes of `text`: refusing too early is better than being cut.

    Two letters or spaces a token, one for every other ASCII sign, five for two of any other script. Measured with
    SmolLM2's tokenizer, whose small English vocabulary is the worst case: English 0.19 to 0.3 tokens a character,
    Polish 0.6, digits 1, Chinese and Japanese up to 2, Hangul 2.3.
    """
    cheap = len(_CHEAP.findall(text))
    dear = sum(not character.isascii() for character in text)
    return (cheap + 1) // 2 + (5 * dear + 1) // 2 + (len(text) - cheap - dear) + 16


def _blank(found: re.Match[str]) -> str:
    """As many line ends as were there, so that the numbers of the lines stay."""
    return "\n" * found[0].count("\n")


def _tidy(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _line(body: str, pattern: str) -> int:
    found = re.search(pattern, body)
    return body.count("\n", 0, found.start()) + 1 if found else 0


LINE_MARK = "│ "
"""Before every line of data: no order in it begins a line, and no line of it looks like a closer."""
NONCE_BYTES = 8

_KEPT_CONTROLS = frozenset("\n\t")
_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029\x0b\x0c\x85]")
_BLANKS = re.compile("[\u2800\u3164\uffa0\u115f\u1160\u17b4\u17b5\u034f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Letters and marks that show nothing, whatever their category says: fillers, joiners, variation selectors."""
_COMBINING = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_STACKED = re.compile(f"({_COMBINING}{{3}}){_COMBINING}+")
_TEMPLATE_WORD = re.compile(r"\[(/?[A-Za-z_]+)\]")
"""With two capitals in a row a role of a chat template: `[INST]`, `[/INST]`, `[TOOL_CALLS]`, `[gMASK]`."""
_ANGLES = str.maketrans({"<": "‹", ">": "›", "\uff1c": "‹", "\uff1e": "›", "\ufe64": "‹", "\ufe65": "›",
                         "◁": "‹", "▷": "›"})  # fmt: skip
_CATEGORIES_GONE = frozenset({"Cc", "Cf", "Cn", "Co"})


@dataclass(frozen=True, slots=True)
class Datamark:
    """The sentinels of one call."""

    nonce: str
    """Unguessable; whoever wrote the data cannot have known it."""

    @property
    def opener(self) -> str:
        """The line before a piece of data."""
        return f"<<<data {self.nonce}>>>"

    @property
    def closer(self) -> str:
        """The line behind it."""
        return f"<<<end {self.nonce}>>>"

    def wrap(self, text: str) -> str:
        """`text`, made harmless, between the sentinels, each of its lines marked. Without a line end."""
        harmless = harmless_text(text)
        while self.nonce in harmless:  # what closes the gap of one may be another
            harmless = harmless.replace(self.nonce, "")
        lines = [f"{LINE_MARK}{line}".rstrip() for line in harmless.split("\n")]
        return "\n".join((self.opener, *lines, self.closer))


def harmless_text(text: str) -> str:
    """`text` as a reader would see it, in NFC, with nothing in it that a program would read as more than text.

    Gone: control, format, bidirectional, tag, private-use and unassigned characters, fillers, variation selectors, the
    fourth and later mark stacked on one letter. Lone surrogates become U+FFFD. Quoted: angle brackets (sentinels, HTML,
    thinking tags, `<|role|>`) become `‹›`, template words in square brackets get round ones. Idempotent.
    """
    one_line_end = _LINE_ENDS.sub("\n", text)
    seen = "".join(map(_seen, one_line_end))
    composed = unicodedata.normalize("NFC", _STACKED.sub(r"\1", _BLANKS.sub("", seen)))
    return _TEMPLATE_WORD.sub(_rounded, composed.translate(_ANGLES))


def _rounded(found: re.Match[str]) -> str:
    word = found[1]
    is_role = any(one.isupper() and two.isupper() for one, two in pairwise(word))
    return f"({word})" if is_role else found[0]


def _seen(character: str) -> str:
    if character.isascii():
        return character if (character >= " " and character != "\x7f") or character in _KEPT_CONTROLS else ""
    category = unicodedata.category(character)
    if category == "Cs":
        return "\ufffd"
    return "" if category in _CATEGORIES_GONE else character
