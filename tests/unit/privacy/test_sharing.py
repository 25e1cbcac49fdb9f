"""What may leave the machine: two levels of privacy, blanked names, secrets taken out, and doubt that closes."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from aria_dream.markdown.note import parse_note
from aria_dream.policy.kinds import Door
from aria_dream.policy.patterns import NotePattern, matches, parse_pattern
from aria_dream.policy.policy import parse_policy
from aria_dream.privacy.secrets import redact_secrets, show_marks
from aria_dream.privacy.sharing import (
    ShareableExcerpt,
    Sharing,
    Visibility,
    Withheld,
    excerpt_note,
    excerpt_text,
    shareable_title,
    survey,
)


@dataclass(frozen=True, kw_only=True)
class Facts:
    path: str
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    dream: bool = True


def sharing_of(policy_text: str, *notes: Facts) -> Sharing:
    policy, problems = parse_policy(policy_text)
    assert problems == ()
    sharing, problems = survey(notes, policy)
    assert problems == ()
    return sharing


def shared_text(sharing: Sharing, text: str, path: str = "Open.md") -> str:
    excerpt = excerpt_note(sharing, parse_note(text), path)
    assert isinstance(excerpt, ShareableExcerpt)
    return excerpt.text


@pytest.mark.parametrize(
    ("raw", "path", "meant"),
    [
        ("Private", "Private/Diary.md", True),
        ("Private", "private/a/b/c.md", True),
        ("private/", "Area/PRIVATE/x.md", True),
        ("Private", "PrivateNotes.md", False),
        ("Private", "Private.md", True),
        ("/Private", "Area/Private/x.md", False),
        ("/Private", "Private/x.md", True),
        ("Area/Private", "Area/Private/x.md", True),
        ("Area/Private", "Area/Other/Private/x.md", False),
        ("Area\\Private", "Area/Private/x.md", True),
        ("Diary*", "Notes/Diary 2026.md", True),
        ("*/Secret", "Work/Secret/x.md", True),
        ("**/secret/**", "Work/a/Secret/x.md", True),
        ("Work/**/Secret", "Work/a/b/Secret/x.md", True),
        ("Work/**", "Work/a.md", True),
        ("*.canvas", "Board.canvas", True),
        ("*.canvas", "Board.md", False),
        ("20[0-9][0-9]", "2026/x.md", True),
        ("caf\u00e9", "Cafe\u0301/x.md", True),
        ("CAF\u00c9", "caf\u00e9/x.md", True),
        ("[[Health log]]", "a/Health Log.md", True),
        ("[[a/Health log|mine]]", "a/Health Log.md", True),
    ],
)
def test_path_patterns(raw: str, path: str, *, meant: bool) -> None:
    pattern = parse_pattern(raw)
    assert isinstance(pattern, NotePattern)
    assert matches(pattern, path, ()) is meant


@pytest.mark.parametrize(
    ("raw", "tag", "meant"),
    [
        ("#secret", "secret", True),
        ("#Secret", "secret/family", True),
        ("#secret", "SECRET", True),
        ("#secret", "secrets", False),
        ("#secret/family", "secret", False),
        ("#\u00c9t\u00e9", "e\u0301te\u0301", True),
    ],
)
def test_tag_patterns(raw: str, tag: str, *, meant: bool) -> None:
    pattern = parse_pattern(raw)
    assert isinstance(pattern, NotePattern)
    assert matches(pattern, "a.md", (tag,)) is meant


@pytest.mark.parametrize(
    "raw", ["", "  ", "#", "#two words", "../x", "a/../b", "[open", "property:private=true", "tag:x", "/"]
)
def test_what_is_no_pattern_is_a_complaint(raw: str) -> None:
    assert isinstance(parse_pattern(raw), str)


def test_two_levels() -> None:
    sharing = sharing_of(
        "- exclude: Private, #secret\n- never_send: Work\n",
        Facts(path="Private/Diary.md"),
        Facts(path="Area/Tagged.md", tags=("Secret/x",)),
        Facts(path="Opt out.md", dream=False),
        Facts(path="Work/a.md"),
        Facts(path="b.md", tags=("PRIVATE",)),
        Facts(path="c.md", tags=("private/health",)),
        Facts(path="d.md", tags=("privately",)),
    )
    assert sharing.hidden == {"Private/Diary.md", "Area/Tagged.md", "Opt out.md"}
    assert sharing.local == {"Work/a.md", "b.md", "c.md"}
    assert sharing.visibility("d.md") is Visibility.OPEN
    assert sharing.visibility("private/new.md") is Visibility.HIDDEN


def test_nobody_else_makes_an_excerpt() -> None:
    with pytest.raises(TypeError):
        ShareableExcerpt(title="a", text="b", blanked=())


@pytest.mark.parametrize(
    "policy_text", ["- exclude: Nowhere\n", "- never_send: #nowhere, Private\n", "- exclude: Privat\n"]
)
def test_a_pattern_that_means_no_note_closes_sending(policy_text: str) -> None:
    policy, _ = parse_policy(policy_text)
    sharing, problems = survey([Facts(path="Private/a.md"), Facts(path="b.md")], policy)
    assert [problem.line for problem in problems] == [1]
    assert isinstance(excerpt_note(sharing, parse_note("text"), "b.md"), Withheld)
    assert isinstance(excerpt_text(sharing, "text"), Withheld)


def test_the_policy_note_does_not_answer_for_the_tags_it_names() -> None:
    policy, _ = parse_policy("- exclude: #secrt\n", path="dreaming.md")
    sharing, problems = survey(
        [Facts(path="dreaming.md", tags=("secrt",)), Facts(path="a.md", tags=("secret",))], policy
    )
    assert problems
    assert sharing.closed


def test_a_policy_that_needs_mending_closes_sending() -> None:
    policy, _ = parse_policy("- exclude: Private, [x\n")
    assert policy.refusal(Door.SEND)
    sharing, _ = survey([Facts(path="Private/a.md"), Facts(path="b.md")], policy)
    assert isinstance(excerpt_note(sharing, parse_note("text"), "b.md"), Withheld)


PRIVATE = (
    Facts(path="Private/2026/Health log.md", aliases=("Codename", "Pro-ject X")),
    Facts(path="Private/Al.md"),
    Facts(path="Private/\u65e5\u8a18.md"),
    Facts(path="Private/note.md"),
    Facts(path="Private/E-mail.md"),
    Facts(path="Private/Stra\u00dfe.md"),
    Facts(path="Private/Ma\u00dfe und Gr\u00f6\u00dfe.md"),
)


@pytest.mark.parametrize(
    "text",
    [
        "[[Health log]]",
        "![[health LOG#Monday|my blood]]",
        "[[Private/2026/Health log.md]]",
        "[my blood](Private/2026/Health%20log.md)",
        "[my blood](<../Private/2026/Health log.md>)",
        "![scan](Private/blood.png)",
        "`[[Health log]]`",
        "see Health log today",
        "see Private/2026/Health log.md today",
        "see 2026/Health log today",
        "the Health\nlog",
        "the health-log, health_log and HEALTH\u00a0LOG",
        "Hea\u200blth lo\u00adg",
        "[[Codename]] and Codename's",
        "pro ject x! Pro_ject\u2011X",
        "%% blood in a comment %%",
        "<!-- blood in\n\na comment -->",
        "\u6628\u65e5\u306e\u65e5\u8a18\u3092\u8aad\u3080",
        "[[Al]]",
        "ask Al.",
        "Stra\u00dfe, STRASSE",
    ],
)
def test_names_of_private_notes_are_blanked(text: str) -> None:
    sharing = sharing_of("- exclude: Private\n", *PRIVATE, Facts(path="Open.md"))
    out = shared_text(sharing, f"Before, also.\n\n{text}\n\nAfter.\n").casefold()
    for name in ("health", "blood", "2026", "codename", "pro", "ject", "\u65e5\u8a18", " al.", "[[al]]", "stra"):
        assert name not in out.replace("private note", ""), out
    assert "before, also." in out
    assert "after." in out


def test_a_name_that_cannot_be_found_again_withholds_the_excerpt() -> None:
    sharing = sharing_of("- exclude: Private\n", *PRIVATE, Facts(path="Open.md"))
    assert isinstance(excerpt_note(sharing, parse_note("MASSE und Gr\u00f6\u00dfe"), "Open.md"), Withheld)


def test_titles_and_steps_of_a_path_are_blanked() -> None:
    sharing = sharing_of("- exclude: Private\n", *PRIVATE, Facts(path="About Codename.md"))
    assert shareable_title(sharing, "Private/Al.md") == "[private note]"
    assert shareable_title(sharing, "About Codename.md") == "About [private note]"
    excerpt = excerpt_note(sharing, parse_note("text"), "About Codename.md")
    assert isinstance(excerpt, ShareableExcerpt)
    assert excerpt.title == "About [private note]"
    assert excerpt.blanked == (("private note", 1),)


def test_a_private_note_is_withheld_even_if_the_survey_is_old() -> None:
    sharing = sharing_of("", Facts(path="a.md"))
    for text in ("#private", "---\ntags: [Private/x]\n---\n", "---\nDream: no\n---\n", "---\ndream: maybe\n---\n"):
        assert isinstance(excerpt_note(sharing, parse_note(text), "a.md"), Withheld), text
    assert shared_text(sharing, "---\ndream: yes\nkey: hidden\n---\nbody", "a.md") == "body"


def test_an_excerpt_is_cut_after_the_blanking() -> None:
    sharing = sharing_of("- exclude: Private\n", *PRIVATE, Facts(path="Open.md"))
    excerpt = excerpt_note(sharing, parse_note("x" * 96 + " Health log"), "Open.md", limit=100)
    assert isinstance(excerpt, ShareableExcerpt)
    assert "Hea" not in excerpt.text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("key AKIAABCDEFGHIJKLMNOP here", "AKIAABCDEFGHIJKLMNOP"),
        ("ghp_" + "a1B2" * 9, "a1B2a1B2"),
        ("sk-proj-" + "Ab3" * 12, "Ab3Ab3"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nabc\ndef\n-----END OPENSSH PRIVATE KEY-----", "abc"),
        ("-----BEGIN RSA PRIVATE KEY-----\nunfinished", "unfinished"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9", "eyJhbGci"),
        ("password: hunter22", "hunter22"),
        ("Passwort = `geheim1`", "geheim1"),
        ("mot de passe : geheim1", "geheim1"),
        ("0049 30 123456", "0049 30 123456"),
        ("anna [at] example [dot] org", "anna [at] example [dot] org"),
        ("anna(at)example.org", "anna(at)example.org"),
        ("https://hooks.slack.com/services/T000/B000/XXXXXXXXXX", "T000/B000/XXXXXXXXXX"),
        ("AGE-SECRET-KEY-1" + "Q" * 58, "AGE-SECRET-KEY-1" + "Q" * 58),
        ("secret_AbCdEf1234567890abcdef", "AbCdEf1234567890abcdef"),
        ("Contraseña: geheim1", "geheim1"),
        ("密码：geheim1", "geheim1"),
        ('"api_key": "abcd1234"', "abcd1234"),
        ("Authorization: Bearer abcdef1234567890abcd", "abcdef1234567890abcd"),
        ("https://me:s3cret@example.org/x", "s3cret"),
        ("write to anna.maria+x@sub.example.org!", "anna.maria"),
        ("call +49 170 1234567 now", "1234567"),
        ("call (030) 123 45 67", "123 45 67"),
        ("call 555-123-4567", "123-4567"),
        ("card 4111 1111 1111 1111", "1111 1111"),
        ("card 5500005555555559", "5500005555555559"),
        ("IBAN DE89 3704 0044 0532 0130 00", "0532 0130"),
        ("tok Zx8kQ2mP9vR4tY7wB1nC6dF3gH5jL0sA", "Zx8kQ2mP9vR4"),
        ("aws wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "K7MDENG"),
        ("card 4111.1111.1111.1111", "1111.1111"),
        ("card 4111\u00a01111\u00a01111\u00a01111", "1111\u00a01111"),
        ("Tel.: 5551234567", "5551234567"),
        ("call me on 555 1234567", "555 1234567"),
        ("mobil 01712345678", "01712345678"),
        ("138 1234 5678", "1234 5678"),
        ("https://example.org/?call=+49-170-1234567", "1234567"),
        ("https://docs.google.com/document/d/1A2b3C4d5E6f7G8h9I0jKlMnOpQrStUv/edit", "1A2b3C4d"),
        ("https://example.org/share/0f8fad5b-d9cb-469f-a165-70867728950e", "0f8fad5b"),
        ("https://example.org/Page-3f2a9b8c7d6e5f4a3b2c1d0e9f8a7b6c", "3f2a9b8c"),
    ],
)
def test_secrets_go(text: str, secret: str) -> None:
    clean, counts = redact_secrets(text)
    assert secret not in show_marks(clean)
    assert counts.total() == 1


@pytest.mark.parametrize(
    "text",
    [
        "On 2026-11-30 at 12:30, version 1.2.3 of 10.000 notes, ISBN 978-3-16-148410-0, page 123-456.",
        "See https://example.org/a/long/path/that-goes-on-and-on-for-a-while/index.html for more.",
        "Written on 2026 11 30 12 and 1999-12-31.",
        "We met (at noon) in the garden.",
        "The password is a strange idea, the secret of good bread: patience and time.",
        "Pi is 3.14159265358979323846264338327950288419716939937510.",
        "Donaudampfschifffahrtsgesellschaftskapitaenswitwe and a_very_long_snake_case_identifier_in_code",
        "1234567890123456 is no card, 0000 0000 0000 0000 neither.",
        "https://www.theguardian.com/science/2021/nov/25/sleep-replays-the-day",
        "https://www.nature.com/articles/s41586-021-03819-2, doi:10.1016/0022-1694(70)90255-6",
        "https://medium.com/@someone/why-retrieval-practice-works-3f2a9b8c7d6e?source=home",
        "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC1234567/ and https://youtu.be/dQw4w9WgXcQ",
        "digest 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "notes/projects/2024/big-thing/meeting-notes-from-may and a-long-kebab-slug-of-a-note-with-2-numbers",
    ],
)
def test_prose_stays(text: str) -> None:
    clean, _ = redact_secrets(text)
    assert clean == text


@pytest.mark.parametrize(
    "text",
    [
        "It touches [[Diary/Mother|what I never say]] somehow",
        "It touches [what I never say](Diary/Mother.md) somehow",
        "It touches [[Elsewhere/mother#part|what I never say]] somehow",
        "It touches ![[Diary/no such note|what I never say]] somehow",
    ],
)
def test_a_seed_or_a_reason_shows_nothing_of_a_link_to_a_private_note(text: str) -> None:
    sharing = sharing_of("- never_send: Diary\n", Facts(path="Diary/Mother.md"))
    excerpt = excerpt_text(sharing, text)
    assert isinstance(excerpt, ShareableExcerpt)
    assert excerpt.text == f"It touches {'!' if '![[' in excerpt.text else ''}[private note] somehow"
    assert excerpt.blanked == (("private note", 1),)


@pytest.mark.parametrize(
    "text",
    ["**Heart** condition", "Heart&nbsp;condition", "heart\u3164 condition", "He\x00art\x0bcondition",
     "HEART_CONDITION"],
)  # fmt: skip
def test_names_are_known_however_they_are_joined(text: str) -> None:
    sharing = sharing_of("- never_send: Diary\n", Facts(path="Diary/Heart condition.md"))
    excerpt = excerpt_text(sharing, f"about {text}, you know")
    assert isinstance(excerpt, ShareableExcerpt)
    assert excerpt.blanked == (("private note", 1),)
    assert "eart" not in excerpt.text
    assert excerpt.text.endswith("you know")


@pytest.mark.parametrize(
    "text", ["He**art** condition", "H&#101;art condition", "H&#xFF45;art condition", "He<b>art</b> condition"]
)
def test_a_name_in_a_spelling_that_cannot_be_blanked_withholds(text: str) -> None:
    sharing = sharing_of("- never_send: Diary\n", Facts(path="Diary/Heart condition.md"))
    assert isinstance(excerpt_text(sharing, text), Withheld)


@pytest.mark.parametrize(
    "written", ["zoe muller", "ZOE MUELLER", "Zoe_Mueller", "Zoë Müller", "people/zoe muller", "[[Zoe Muller|she]]"]
)
def test_a_name_is_known_without_its_accents_and_with_umlauts_spelled_out(written: str) -> None:
    sharing = sharing_of("", Facts(path="people/Zoë Müller.md", tags=("private",)))
    found = excerpt_text(sharing, f"Ask {written} tomorrow.")
    assert isinstance(found, ShareableExcerpt)
    assert found.text == "Ask [private note] tomorrow."


def test_accents_that_a_private_name_lacks_do_not_hide_it() -> None:
    sharing = sharing_of("", Facts(path="Zoe Muller.md", tags=("private",)))
    found = excerpt_text(sharing, "Ask Zoë Müller tomorrow, not Zoltan.")
    assert isinstance(found, ShareableExcerpt)
    assert found.text == "Ask [private note] tomorrow, not Zoltan."
