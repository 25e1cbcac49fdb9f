"""Addresses in one spelling, and sources that are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.reach.citation import Source, inert, normal_url, parse_source


@pytest.mark.parametrize(
    ("raw", "url"),
    [
        ("https://Example.ORG", "https://example.org/"),
        ("HTTP://example.org:80/a", "http://example.org/a"),
        ("https://example.org:8443/a", "https://example.org:8443/a"),
        ("https://example.org/a?utm_source=chatgpt.com&id=7&fbclid=x#top", "https://example.org/a?id=7#top"),
        ("https://example.org/a?gclid=1", "https://example.org/a"),
        ("https://example.org/a?UTM_Campaign=1&q=utm_source", "https://example.org/a?q=utm_source"),
        ("https://example.org/a?a=1;utm_source=x;b=2", "https://example.org/a?a=1;b=2"),
        ("https://example.org/a?utm%5Fsource=x&a=%26", "https://example.org/a?a=%26"),
        ("https://example.org/a?&&a=1&&msclkid=3&b", "https://example.org/a?a=1&b"),
        ("https://example.org/a#/list?page=2&utm_source=x", "https://example.org/a#/list?page=2"),
        ("https://example.org/a#part:~:text=quoted", "https://example.org/a#part"),
        ("https://\u0430pple.com/", "https://xn--pple-43d.com/"),  # a Cyrillic letter shows what it is
        ("https://example.org/a#:~:text=quoted%20words", "https://example.org/a"),
        ("https://example.org/a#utm_source=x", "https://example.org/a"),
        ("https://bücher.example/ü`x", "https://xn--bcher-kva.example/%C3%BC%60x"),
        ("https://example.org/100%/a%20b", "https://example.org/100%25/a%20b"),
        ("https://exam\u200bple.org/a", "https://example.org/a"),
        ("https://8.8.8.8/x", "https://8.8.8.8/x"),
        ("https://example.org/a/./b/../c?x=1&amp;utm_source=y", "https://example.org/a/c?x=1"),
        ("https://example.org/web/2020/https://x.org/?y=1", "https://example.org/web/2020/https://x.org/?y=1"),
        ("https://example.org/../../a", "https://example.org/a"),
    ],
)
def test_one_spelling(raw: str, url: str) -> None:
    assert normal_url(raw) == url
    assert normal_url(url) == url


@pytest.mark.parametrize(
    "raw",
    [
        "", "example.org", "ftp://example.org/", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd",
        "https://user@example.org/", "https://example.org@evil.test/", "https://", "https://localhost/", "http://box/",
        "http://127.0.0.1/", "http://10.0.0.1/", "http://127.1/", "http://0177.0.0.1/", "http://2130706433/",
        "http://[::1]/", "https://a..b/", "https://example.org:99999/", "https://printer.local/",
        "https://router.lan/", "https://nas.home.arpa/", "https://box.localdomain/", "obsidian://open",
        "https://example.org/" + "a" * 2000,
    ],
)  # fmt: skip
def test_what_is_no_page_of_the_public_web(raw: str) -> None:
    assert normal_url(raw) == ""


@pytest.mark.parametrize(
    ("line", "url", "title"),
    [
        ("https://example.org/a", "https://example.org/a", ""),
        ("<https://example.org/a>.", "https://example.org/a", ""),
        ("[A *title*](https://example.org/a?utm_source=x)", "https://example.org/a", "A *title"),
        ("[A [sub] title](https://example.org/a_(b))", "https://example.org/a_(b)", "A [sub] title"),
        ("A title — https://example.org/a_(b)", "https://example.org/a_(b)", "A title"),
        ('Smith 2025, "A title" (https://example.org/a)', "https://example.org/a", 'Smith 2025, "A title'),
        ("Memory consolidation in agents (2025)", "", "Memory consolidation in agents (2025)"),
        ("Nothing to Envy", "", "Nothing to Envy"),
        ("Unknown Pleasures", "", "Unknown Pleasures"),
        ("![](https://example.org/a.png)", "https://example.org/a.png", ""),
    ],
)
def test_sources(line: str, url: str, title: str) -> None:
    found = parse_source(line)
    assert found is not None
    assert found.url == url
    assert title in found.title
    assert "://" not in found.title


@pytest.mark.parametrize(
    "line",
    ["", "-", "none", "None.", "N/A", "no sources", "No external sources found.", "from memory", "From memory: Smith",
     "my own knowledge", "http://localhost/x", "javascript:x https://user@evil.test/", "(none)", "nothing found",
     "keine", "Keine gefunden.", "aucune", "ninguna fuente", "なし",
     "No relevant sources were found in my search.", "There are no sources for this.", "I could not open any page.",
     "I was unable to access the site", "aus dem Gedächtnis: Smith", "javascript:alert(1)", "file:///etc/passwd",
     "[x](data:text/html,hi)"],
)  # fmt: skip
def test_no_sources(line: str) -> None:
    assert parse_source(line) is None


@pytest.mark.parametrize(
    "title",
    ["No free lunch: two sources of optimism", "I Am Not a Strange Loop", "None but the brave", "Big data: a history",
     "Keine Zeit, ein Roman", "No universal references in language use"],
)  # fmt: skip
def test_a_title_may_begin_as_if_there_were_none(title: str) -> None:
    assert parse_source(title) == Source(url="", title=title)


def test_nothing_is_clickable() -> None:
    assert inert("see https://www.example.org/a and www.example.org, mail a@b.org") == (
        "see example.org/a and example.org, mail …"
    )
    assert inert("httphttps://s://x") == "x"


@given(st.text() | st.from_regex(r"https?://[a-z.@:0-9%\[\]?&=#]{0,30}"))
def test_any_text(text: str) -> None:
    url = normal_url(text)
    assert url == "" or (normal_url(url) == url and url.isascii() and not set(url) & set('`<> \n"|\\'))
    assert inert(inert(text)) == inert(text)
    found = parse_source(text)
    assert found is None or isinstance(found, Source)
