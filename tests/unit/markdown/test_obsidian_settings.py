"""Obsidian's config files as values, and Moment formats read backwards."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.markdown.moment import parse_moment_format
from aria_dream.vault.obsidian import (
    ObsidianSettings,
    parse_app_settings,
    parse_daily_notes,
    parse_ignore_filter,
    parse_periodic_notes,
    parse_template_folder,
)


def test_app_settings_are_read() -> None:
    settings, problems = parse_app_settings(
        '{"newLinkFormat": "relative", "useMarkdownLinks": true, "attachmentFolderPath": "./img",'
        ' "newFileLocation": "folder", "newFileFolderPath": "Inbox/", "alwaysUpdateLinks": true,'
        ' "trashOption": "local",'
        ' "userIgnoreFilters": ["Archive/", "/\\\\.excalidraw\\\\.md$/"], "unknown": [1]}'
    )
    assert problems == ()
    assert settings.new_link_format == "relative"
    assert settings.use_markdown_links
    assert settings.attachment_folder == "./img"
    assert (settings.new_file_location, settings.new_file_folder) == ("folder", "Inbox")
    assert settings.always_update_links
    assert settings.trash_option == "local"
    assert settings.ignores("Archive/old.md")
    assert settings.ignores("art/x.excalidraw.md")
    assert not settings.ignores("Notes/Archive/old.md")


@pytest.mark.parametrize("text", ["", "  ", "\ufeff{}", "{}"])
def test_empty_settings_are_the_defaults(text: str) -> None:
    settings, problems = parse_app_settings(text)
    assert problems == ()
    assert settings.new_link_format == "shortest"
    assert not settings.use_markdown_links


@pytest.mark.parametrize(
    "text", ["{", "[1]", '"x"', "[" * 100_000, '{"a": ' + "9" * 5000 + "}", "nul\0", '{"newLinkFormat": 3}',
             '{"userIgnoreFilters": "x"}', '{"userIgnoreFilters": [3]}', '{"useMarkdownLinks": "yes"}']
)  # fmt: skip
def test_what_cannot_be_read_is_a_problem_and_a_default(text: str) -> None:
    settings, problems = parse_app_settings(text)
    assert len(problems) == 1
    assert settings.new_link_format == "shortest"
    assert not settings.use_markdown_links


def test_a_problem_names_its_line() -> None:
    assert parse_app_settings('{\n "a": 1,\n oops\n}')[1][0].line == 3


@given(st.text())
def test_reading_is_total(text: str) -> None:
    parse_app_settings(text)
    parse_daily_notes(text)
    parse_periodic_notes(text)
    parse_template_folder(text)
    parse_ignore_filter(text)
    parse_moment_format(text).matches(text)


@pytest.mark.parametrize(
    "pattern",
    ["/(a+)+$/", "/(a|aa)*b/", "/((x*)y?)*/", "/(.*)\\1/", "/(?<q>a)\\k<q>/", "/.*.*.*.*.*x/", "/(a{1,9}){2,}/",
     "/[/", "/(/", "/" + "a" * 600 + "/"],
)  # fmt: skip
def test_a_dangerous_or_broken_pattern_is_refused(pattern: str) -> None:
    assert isinstance(parse_ignore_filter(pattern), str)


@pytest.mark.parametrize(
    ("pattern", "path", "hidden"),
    [
        ("/^Archive\\//", "Archive/x.md", True),
        ("/^Archive\\//", "archive/x.md", False),
        ("/(^|\\/)_[^\\/]*\\//", "a/_b/c.md", True),
        ("/.*\\.excalidraw\\.md/", "a/b.excalidraw.md", True),
        ("/(?<year>20\\d\\d)/", "log/2024.md", True),
        ("/[(a+)+]/", "x+y.md", True),
        ("Templates", "templates/x.md", True),
        ("a+b/", "a+b/x.md", True),
        ("a+b/", "aab/x.md", False),
    ],
)
def test_filters_hide_by_prefix_or_pattern(pattern: str, path: str, hidden: bool) -> None:
    made = parse_ignore_filter(pattern)
    assert made is not None
    assert not isinstance(made, str), made
    assert made.hides(path) is hidden


def test_an_accepted_pattern_cannot_hang() -> None:
    made = parse_ignore_filter("/^a*a*a*a*$/")
    assert made is not None
    assert not isinstance(made, str)
    assert not made.hides("a" * 120 + "b")  # a pattern that hangs would run into the test's timeout


@pytest.mark.parametrize(
    ("format_", "text"),
    [
        ("YYYY-MM-DD", "2024-02-29"),
        ("[Entry of ]Do MMM, YYYY", "Entry of 3rd Feb, 2024"),
        ("YYYY/MM-MMMM/YYYY-MM-DD-dddd", "2026/11-November/2026-11-30-Monday"),
        ("YYYY/MM-MMMM/YYYY-MM-DD-dddd", "2026/11-novembre/2026-11-30-lundi"),
        ("YYYY年M月D日", "2026年1月2日"),
        ("D. MMMM YYYY", "2. März 2026"),
        ("D MMM YYYY", "2 févr. 2026"),
        ("GGGG-[W]WW", "2026-W53"),
        ("gggg-[W]ww", "2026-W01"),
        ("YYYY-[Q]Q", "2026-Q4"),
        ("YYYYMMDDHHmm", "202611301405"),
        ("YYYY-MM-DD ddd", "2026-11-30 Mon"),
        ("DDDD YYYY", "334 2026"),
        ("YYYY-DDD", "2026-7"),
        ("MMMM", "November"),
        ("LL", "November 30, 2026"),
        ("YYYY-MM-DD[T]HH.mm.ssZZ", "2026-11-30T01.02.03+0100"),
        ("hh.mm A, DD-MM-YY", "01.05 PM, 30-11-26"),
        ("[[]YYYY[]]", "[2026]"),
        ("\\YYYYY", "YYYYY"),
        ("YYYY-MM-DD SSS", "2026-11-30 123"),
    ],
)
def test_a_date_in_the_format_matches(format_: str, text: str) -> None:
    assert parse_moment_format(format_).matches(text)


@pytest.mark.parametrize(
    ("format_", "text"),
    [
        ("YYYY-MM-DD", "2023-02-29"),
        ("YYYY-MM-DD", "2026-13-01"),
        ("YYYY-MM-DD", "2026-11-30 walk"),
        ("YYYY/YYYY-MM-DD", "2025/2026-11-30"),
        ("[Entry of ]Do MMM, YYYY", "Entry of 3rd Feb"),
        ("MMMM", "Recipes"),
        ("dddd", "Ideas"),
        ("YYYY.MM", "2026x11"),
        ("GGGG-[W]WW", "2026-W54"),
    ],
)
def test_any_other_text_does_not(format_: str, text: str) -> None:
    assert not parse_moment_format(format_).matches(text)


def test_daily_notes_lie_in_their_folder() -> None:
    daily, problems = parse_daily_notes('{"folder": "/Journal//", "format": "YYYY/MM/YYYY-MM-DD", "autorun": true}')
    assert problems == ()
    settings = ObsidianSettings(daily=(daily,), template_folders=("Templates",))
    assert settings.is_daily("Journal/2026/11/2026-11-30.md")
    assert settings.is_daily("journal/2026/11/2026-11-30.md")
    assert settings.is_daily("Old journal/2026-11-30.md")  # a name that is only a date is no thought's
    assert not settings.is_daily("Journal/2026-11-30 dream.md")
    assert not settings.is_daily("2026/11/2026-13-30.md")
    assert not settings.is_daily("Journal/2026/11/11-30.md")
    assert not settings.is_daily("Journal/2026/11/2026-11-30.canvas")
    assert settings.is_template("templates/Day.md")
    assert not settings.is_template("Templates.md")


def test_periodic_notes_in_both_forms() -> None:
    old, _ = parse_periodic_notes(
        '{"daily": {"enabled": true, "folder": "D", "format": ""}, "weekly": {"enabled": true, "folder": "W"},'
        ' "yearly": {"enabled": false, "folder": "Y"}}'
    )
    assert [(kind.folder, kind.format) for kind in old] == [("D", "YYYY-MM-DD"), ("W", "gggg-[W]ww")]
    new, _ = parse_periodic_notes(
        '{"calendarSets": [{"id": "Default", "day": {"enabled": true, "folder": "D", "format": "YYYY"},'
        ' "month": {"enabled": true}}]}'
    )
    assert [(kind.folder, kind.format) for kind in new] == [("D", "YYYY"), ("", "YYYY-MM")]


def test_template_folders_of_both_plugins() -> None:
    assert parse_template_folder('{"folder": "/T/x/"}') == ("T/x", ())
    assert parse_template_folder('{"templates_folder": "T"}', "templates_folder") == ("T", ())
    assert parse_template_folder('{"folder": 3}')[0] == ""
