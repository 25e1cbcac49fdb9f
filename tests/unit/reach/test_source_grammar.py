"""What counts as a source, and what a model writes into its list that is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.reach.citation import Source, parse_source
from aria_dream.reach.source_grammar import is_source, is_source_text, name_key, parse_sources, without_notes

SOURCES = (
    "Foster (2006)", "Foster 2006", "Foster & Lee 2006, p. 3", "Müller u. a. 2019", "Müller u.a. 2019",
    "Smith et al. 2020", "Smith et al., 2020a", "arXiv:2301.12345", "arXiv 2301.12345v2",
    "arXiv preprint arXiv:2301.12345", "arXiv:hep-th/9901001", "ISBN 978-0-306-40615-7", "ISBN 978-0-306-40615",
    "ISBN 0-306-40615-2", "ISBN: 080442957X", "9780306406157", "example.org/a", "www.example.org", "example.org",
    "10.1000/xyz", "doi:10.1000/xyz123", "DOI 10.1038/s41586-020-2649-2", "Darwin, On the Origin of Species, 1859",
    "Charles Darwin: On the Origin of Species. London, 1859", "Darwin 1859", "山田太郎（2019）", "王小明 2019",
    "王小明等，2019年",
    "김철수 (2020)", "김철수 외 (2020)", "J. Foster 2006", "Foster, J. (2006). On boats.",
    "Foster, J. A., Lee, K., & Kim, P. (2006)", "de la Cruz 1999",
    "Bjork, R. A. (1994). Memory and metamemory considerations", "Bjork and Bjork (1992)", "Bjork 1994",
    "On boats (Foster, 2006)", "The Structure of Scientific Revolutions, Kuhn 1962", 'Smith 2025, "A title',
    "A study of rest by Foster 2006", "See Foster (2006)", "Смит и др. 2019", "Иванов, 2010", "Ibn Khaldun 1377",
    "ابن خلدون 1377", "O'Neil 2016", "McKay 2003", "Van Gogh 1888", "IPCC (2021)", "Le Guin, Ursula K. 1969",
    "Foster J, Lee K. 2006", "Smith-Jones 2011", "Nakamura, H. Tidal rhythms in sleep. J. Sleep 12, 2011",
    "Kuhn, T. S. The Structure of Scientific Revolutions (1962)", "García Márquez, Cien años de soledad, 1967",
    "Weber 1922", "Webster (1913)", "Foster, John. “On boats”. 2006.", "Foster, 2006, S. 12",
    "村上春樹『ノルウェイの森』（1987）",
    "鲁迅，《呐喊》，1923", "Nguyễn Văn A 2015", "Øster 2001", "Παπαδόπουλος 2004",
    "Plato, Republic (380 BCE)", "Aristotle, ca. 350 BC", "Cicero 44 v. Chr.", "Platon (380 av. J.-C.)",
    "Popper 1934/1959",
)  # fmt: skip
NONE = (
    "Search 2024", "GPT-4 2024", "Accessed 2024", "web search, 2025", "Web search (2025)", "citeturn0search1",
    "【4†source】", "my own search", "My Own Search, 2024", "various web pages", "various web pages, 2024",
    "general knowledge", "General Knowledge 2023", "Clinker planking", "12 March 2024", "March 2024", "2024-03-12",
    "2024", "12.03.2024", "Retrieved March 12, 2024", "ChatGPT 2024", "ChatGPT, 2024", "Suche 2024",
    "Eigene Recherche 2024", "Internetrecherche, 2025", "搜索 2024", "网络搜索，2024年", "検索 2024年", "2024年3月12日",
    "Поиск 2024", "Recherche personnelle, 2024", "localhost/x", "127.0.0.1/x", "192.168.1.2/x", "printer.local/a",
    "README.md", "compost.md", "notes/compost.md", "file.txt", "Node.js", "e.g. this", "Training Data 2023",
    "The Structure 2006", "A book of bread", "Memory consolidation in agents (2025)",
    "On the Origin of Species (1859)", "turn0search3", "Wikipedia 2024", "Google Search, 12 May 2024",
    "Abgerufen am 12. Mai 2024", "My notes from 2024", "Source 1", "[1]", "v1.2.3", "version 2024",
    "Published May 2024", "1859", "p. 1859", "In 2006", "Note of 2024", "Claude 2025", "LLM 2024", "AI, 2025",
    "2301.12345", "3 of 5", "12:30", "the paper of 2019", "Search 44 BC", "page 44 bc",
    "Accessed 2023/2024", "12345 Springfield 2000",
)  # fmt: skip


@pytest.mark.parametrize("text", SOURCES)
def test_an_address_a_number_or_author_and_year_counts(text: str) -> None:
    assert is_source_text(text)
    found = parse_source(text)
    assert found is not None
    assert is_source(found)


@pytest.mark.parametrize("text", NONE)
def test_anything_else_counts_for_nothing(text: str) -> None:
    assert not is_source_text(text)
    found = parse_source(text)
    assert found is None or not is_source(found)


@pytest.mark.parametrize(
    "line",
    ["citeturn0search1", "- citeturn0search1turn2view0", "filecite turn0file3", "【4†source】", "【12:0†report.pdf】",
     "\ue200cite\ue202turn0search0\ue201", "turn0news12", "\ue203"],
)  # fmt: skip
def test_a_mark_for_a_chat_window_is_no_line_of_the_list(line: str) -> None:
    assert not any(map(is_source, parse_sources([f"- {line}"])))
    assert parse_sources([f"- {line} https://example.org/a"])[0].url == "https://example.org/a"


def test_a_note_of_the_writer_is_no_source_however_it_is_written() -> None:
    names = {name_key(name) for name in ("Foster 2006", "papers/Lee (2019)", "Lee (2019)", "an alias")}
    own = ["Foster 2006", "[[Foster 2006]]", "“foster 2006”", "Foster 2006.md", "[[papers/Lee (2019)|Lee]]",
           "Lee, 2019", "An Alias"]  # fmt: skip
    assert without_notes([Source(url="", title=title) for title in own], names) == ()
    kept = (Source(url="", title="Foster 2007"), Source(url="https://example.org/a", title="Foster 2006"))
    assert without_notes(kept, names) == kept


@given(st.text())
def test_any_text_is_judged(text: str) -> None:
    assert is_source_text(text) in (True, False)
    assert not is_source_text("".join(letter for letter in text if letter.isalpha() and letter.islower()))


@pytest.mark.parametrize("character", list("1a.,A/ -,山("))
def test_no_line_takes_long(character: str) -> None:
    is_source_text(character * 2_000)
    is_source_text(f"A{character} 2006 " * 300)
