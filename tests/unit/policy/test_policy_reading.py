"""How `dreaming.md` is read: what counts as a setting, what closes it, and what is told about it."""

from __future__ import annotations

import pytest

from aria_dream.policy.kinds import Door, Window, render_value
from aria_dream.policy.policy import Policy, SettingSource, choose_policy, find_policy_note, parse_policy
from aria_dream.policy.settings import SETTINGS, Settings, near_keys, render_policy_note, render_table


def settings(text: str) -> Settings:
    policy, problems = parse_policy(text)
    assert problems == ()
    return policy.settings


def closed(text: str) -> tuple[Policy, list[int]]:
    """The policy of a text that needs mending, and the lines it names. Nothing may leave or be spent then."""
    policy, problems = parse_policy(text)
    assert problems
    assert all(policy.refusal(door) for door in (Door.SEND, Door.SPEND, Door.AUTO))
    assert policy.reach_refusal()
    return policy, [problem.line for problem in problems]


@pytest.mark.parametrize(
    "text", ["", "\n\n", "# Only prose\n\nidle is 5 seconds.\n", "- a thought\n- another thing: one with words\n"]
)
def test_what_says_nothing_is_the_defaults(text: str) -> None:
    assert settings(text) == Settings()


@pytest.mark.parametrize(
    "line",
    [
        "- poll_s: 90",
        "* poll_s: 90",
        "+ poll_s: 90   # a remark",
        "  - poll_s:90",
        "- poll_s : 90",
        "- **poll_s**: 90",
        "- **poll_s:** 90",
        "- `poll_s`: 90",
        "- poll_s: `90`",
        '- poll_s: "90"  # quoted',
        "-\u00a0poll_s:\u00a090",
        "- poll_s: 90 <!-- was 60 -->",
        "- poll_s: 90 %% was 60 %%",
        "\ufeff- poll_s: 90",
        "\ufeff\r\n\r\n- poll_s: 90\r\n",
        "prose\r- poll_s: 90\r",
        "Some prose before it:\n- poll_s: 90\nand behind it",
        "---\naria-dream: policy\n---\n- poll_s: 90",
        "\n---\naria-dream: policy\n---\n\n- poll_s: 90",
        "<details>\n<summary>more</summary>\n\n- poll_s: 90\n\n</details>",
        "- poll_s: 90\n- poll_s: 90",
        "1. a numbered remark\n   - poll_s: 90",
    ],
)
def test_ways_to_write_a_setting(line: str) -> None:
    assert settings(line).poll_s == 90


@pytest.mark.parametrize(
    "example",
    [
        "```yaml\n- poll_s: 90\n```",
        "~~~~\n- poll_s: 90\n```\n~~~~",
        "> - poll_s: 90",
        "> [!note]- folded\n> - poll_s: 90",
        "para\n\n    - poll_s: 90",
        "- item\n\n      - poll_s: 90",
        "<!-- \n- poll_s: 90\n-->",
        "%%\n- poll_s: 90\n%%",
        "%% - poll_s: 90 %%",
        "<pre>\n- poll_s: 90\n</pre>",
        "- a remark\n  ```\n  - poll_s: 90\n  ```",
        "The setting poll_s: 90 would be slow.",
        "poll_s: 90 would be slow.",
        "| poll_s: 90 |",
        "# poll_s: 90",
        "poll_s: often",
        "- [ ] poll_s: 60",
    ],
)
def test_examples_and_prose_never_count(example: str) -> None:
    assert settings(example) == Settings()
    assert settings(f"- canvas: on\n\n{example}\n\n- notify: on\n").notify


@pytest.mark.parametrize(
    "block",
    [
        "```\n- exclude: Diary\n",
        "<!--\n- exclude: Diary\n",
        "%%\n\n- exclude: Diary\n",
        "````\n```\n- exclude: Diary\n```\n",
    ],
)
def test_a_block_nobody_closed_hides_no_prohibition(block: str) -> None:
    policy, lines = closed("- canvas: on\n\n" + block)
    assert lines == [3 + block[: block.index("- exclude")].count("\n")]
    assert [str(pattern) for pattern in policy.settings.exclude] == ["Diary"]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("- daily_dream_cap: many", "daily_dream_cap"),
        ("- daily_dream_cap: -1", "daily_dream_cap"),
        ("- daily_dream_cap: 1e2", "daily_dream_cap"),
        ("- daily_dream_cap: \u0663", "daily_dream_cap"),
        ("- daily_dream_cap: 101", "daily_dream_cap"),
        ("- daily_dream_cap: " + "9" * 6000, "daily_dream_cap"),
        ("- daily_dream_cap:", "daily_dream_cap"),
        ("- idle_threshold_s: 15 min", "idle_threshold_s"),
        ("- confidence_floor: 0,9", "confidence_floor"),
        ("- confidence_floor: nan", "confidence_floor"),
        ("- confidence_floor: 1.01", "confidence_floor"),
        ("- dreaming: of", "dreaming"),
        ("- quiet_hours: 1-6", "quiet_hours"),
        ("- quiet_hours: 03:00-03:00", "quiet_hours"),
        ("- quiet_hours: 25:00-26:00", "quiet_hours"),
        ("- timezone: Europe/Berln", "timezone"),
        ("- timezone: ../../etc/passwd", "timezone"),
        ("- dream_folder: ../elsewhere", "dream_folder"),
        ("- dream_folder: /root", "dream_folder"),
        ("- dream_folder: .obsidian", "dream_folder"),
        ("- dream_folder: C:\\dreams", "dream_folder"),
        ("- ollama_url: localhost:11434", "ollama_url"),
        ("- ollama_url: http://user:pass@example.org", "ollama_url"),
        ("- placement: sometimes", "placement"),
        ("- sandbox: workspace-write", "sandbox"),
        ("- sandbox: danger-full-access", "sandbox"),
        ("- network: open", "network"),
        ("- writer: anyone", "writer"),
        ("- repo: /home/me/project", "repo"),
        ("- daily_dream_cap: 3\n- daily_dream_cap: 4", "daily_dream_cap"),
        ("- Daily_dream_cap: 3", "daily_dream_cap"),
        ("- daily-dream-cap: 3", "daily_dream_cap"),
        ("- daily dream cap: 3", "daily_dream_cap"),
        ("- daily_dreams_cap: 3", "daily_dream_cap"),
        ("- dialy_dream_cap: 3", "daily_dream_cap"),
        ("- dream_daily_cap: 3", "daily_dream_cap"),
        ("- daily_dream_cap = 5", "daily_dream_cap"),
        ("daily_dream_cap: 5", "daily_dream_cap"),
        ("1. daily_dream_cap: 5", "daily_dream_cap"),
        ("- [x] daily_dream_cap: 5", "daily_dream_cap"),
        ("\u2013 daily_dream_cap: 5", "daily_dream_cap"),
        ("---\ndaily_dream_cap: 5\n---\n", "daily_dream_cap"),
        ("- reach_requests_per_month: 5", "monthly_reach_ceiling"),
        ("- exclude_folders: Diary", "exclude"),
        ("- reach_requests: 5", "reach_requests_per_week"),
    ],
)
def test_doubt_closes_the_key_and_every_way_out(line: str, name: str) -> None:
    policy, lines = closed("# Policy\n\n" + line if not line.startswith("---") else line)
    assert lines[-1] == (2 if line.startswith("---") else 3 + line.count("\n"))
    if name == "monthly_reach_ceiling":  # a slip that is near to several keys closes those, and spending altogether
        return
    assert policy.origin(name).source is SettingSource.CLOSED
    if name not in ("exclude", "never_send"):
        assert getattr(policy.settings, name) == SETTINGS[name].row.closed


def test_a_problem_in_one_key_leaves_the_others_alone() -> None:
    policy, _ = closed("- poll_s: 90\n- canvas: maybe\n- juxtapositions_per_dream: 5\n")
    assert (policy.settings.poll_s, policy.settings.juxtapositions_per_dream) == (90, 5)
    assert policy.settings.dreaming
    assert not policy.dream_refusal()
    assert not policy.write_refusal()


def test_an_unknown_key_is_reported_and_keeps_everything_here() -> None:
    policy, lines = closed("- mood: cheerful\n")
    assert lines == [1]
    assert policy.settings == Settings()


@pytest.mark.parametrize("line", ["- placement: wherever", "- related_heading:", "- rollback_window_h: two days"])
def test_a_doubtful_change_setting_stops_writing_into_notes(line: str) -> None:
    policy, _ = closed(line)
    assert policy.write_refusal()


@pytest.mark.parametrize(
    "line", ["- dreaming: of", "- host: a\n- host: b", "- quiet_hours: night", "- dream_folder: ."]
)
def test_a_doubtful_when_or_where_stops_dreaming(line: str) -> None:
    policy, _ = closed(line)
    assert policy.dream_refusal()


def test_a_wall_that_is_higher_is_no_problem_but_ends_reaching() -> None:
    policy, problems = parse_policy("- network: web-off")
    assert problems == ()
    assert "web-off" in policy.reach_refusal()


def test_pattern_lists_in_every_shape() -> None:
    text = (
        '- exclude: Private, "a, b" , #secret   # and this is a remark\n'
        "- never_send:   # remark\n"
        "  - Work/Clients\n"
        "  - '#health'\n"
        "\n"
        "  - [[Anna]]   # a note\n"
        "- truth: [Facts, Sources]\n"
    )
    found = settings(text)
    assert [str(p) for p in found.exclude] == ["Private", "a, b", "#secret"]
    assert [str(p) for p in found.never_send] == ["Work/Clients", "#health", "[[Anna]]"]
    assert [str(p) for p in found.truth] == ["Facts", "Sources"]


@pytest.mark.parametrize(
    "text",
    [
        "- exclude: Private\n- exclude: Diary\n",
        "- exclude: Private\n- exclud: Diary\n",
        "- exclude: Private, Diary, [open\n",
        "- exclude: Private, Diary, ../outside\n",
        "- exclude: Private, Diary, property:private=true\n",
        "---\nexclude: [Private, Diary]\n---\n",
        "---\nexclude:\n  - Private\n---\n- exclude: Diary\n",
        "- exclude: Private\nexclude: Diary\n\n- [x] exclude: Diary\n",
    ],
)
def test_doubt_about_a_pattern_list_still_hides_all_it_names(text: str) -> None:
    policy, _ = closed(text)
    assert {str(pattern) for pattern in policy.settings.exclude} >= {"Private", "Diary"}


def test_a_vanished_policy_closes_everything() -> None:
    policy, problems = parse_policy(None, was_there=True)
    assert len(problems) == 1
    assert set(policy.shut) == set(Door)
    assert all(policy.origin(name).source is SettingSource.CLOSED for name in SETTINGS)
    assert not policy.settings.dreaming
    assert policy.settings.reach_requests_per_week == 0


def test_a_policy_never_seen_is_the_defaults() -> None:
    policy, problems = parse_policy(None)
    assert problems == ()
    assert policy == Policy()
    assert str(policy.origin("poll_s")) == "default"


def test_text_that_is_no_utf8_closes_everything() -> None:
    wide = "- canvas: on".encode("utf-16").decode("utf-8", "surrogateescape")
    policy, _ = closed(wide)
    assert set(policy.shut) == set(Door)
    parse_policy("- host: caf\udce9\n")  # one stray byte is no reason to fail


def test_origins_name_their_line() -> None:
    policy, _ = parse_policy(
        "---\naria-dream: policy\n---\n\n- poll_s: 90\n", path="dream.md", env={"ARIA_CANVAS": "on"}
    )
    assert str(policy.origin("poll_s")) == "dream.md:5"
    assert str(policy.origin("canvas")) == "ARIA_CANVAS"
    assert str(policy.origin("notify")) == "default"


def test_environment_overrides_for_one_run() -> None:
    policy, problems = parse_policy("- poll_s: 90", env={"ARIA_POLL_S": "30", "ARIA_QUIET_HOURS": "23:30-04:00"})
    assert problems == ()
    assert policy.settings.poll_s == 30
    assert policy.settings.quiet_hours == Window(1410, 240)


@pytest.mark.parametrize("name", [name for name, setting in SETTINGS.items() if setting.row.guard])
def test_no_variable_opens_wall_privacy_or_egress(name: str) -> None:
    value = render_value(SETTINGS[name].default) or "http://example.org"
    policy, problems = parse_policy("", env={f"ARIA_{name.upper()}": "on" if value == "off" else value})
    assert policy.settings == Settings()
    assert [problem.line for problem in problems] == [0]
    assert f"ARIA_{name.upper()}" in problems[0].message


def test_guards_cover_what_must_not_be_opened_from_outside() -> None:
    guarded = {name for name, setting in SETTINGS.items() if setting.row.guard}
    assert guarded >= {
        "sandbox",
        "network",
        "writer",
        "repo",
        "exclude",
        "never_send",
        "allow_remote_triage",
        "triage_url",
    }


def test_a_variable_never_opens_what_a_problem_closed() -> None:
    policy, _ = parse_policy("- daily_dream_cap: lots", env={"ARIA_DAILY_DREAM_CAP": "9"})
    assert policy.settings.daily_dream_cap == 0
    policy, _ = parse_policy(None, was_there=True, env={"ARIA_DREAMING": "on", "ARIA_REACH_REQUESTS_PER_WEEK": "9"})
    assert not policy.settings.dreaming
    assert policy.settings.reach_requests_per_week == 0


@pytest.mark.parametrize("variable", ["ARIA_REACH_REQUESTS_PER_WEAK", "ARIA_REACH_REQUESTS_PER_WEEK"])
def test_an_unreadable_or_misspelt_variable_closes_its_key(variable: str) -> None:
    policy, problems = parse_policy("", env={variable: "few"})
    assert policy.settings.reach_requests_per_week == 0
    assert problems
    assert policy.reach_refusal()


def test_variables_of_others_are_left_alone() -> None:
    assert parse_policy(None, env={"ARIA_LABEL": "x", "ARIA_DREAM_VAULT": "/v", "POLL_S": "1"}) == (Policy(), ())


MARKED = "---\naria-dream: policy\n---\n"


def test_only_the_marked_note_is_the_policy() -> None:
    note, problems = find_policy_note({"dreaming.md": "- dreaming: off", "Dream.md": MARKED, "Other.md": MARKED})
    assert problems == ()
    assert note is not None
    assert note.path == "Dream.md"
    assert find_policy_note({"dreaming.md": "my dreaming diary"}) == (None, ())


def test_two_marked_notes_close_everything() -> None:
    policy, problems = choose_policy({"dreaming.md": MARKED, "dream.md": MARKED})
    assert len(problems) == 1
    assert set(policy.shut) == set(Door)


def test_a_marked_note_with_broken_properties_closes_everything() -> None:
    policy, problems = choose_policy({"dreaming.md": "---\naria-dream: policy\nfoo: [\n---\n"})
    assert problems
    assert set(policy.shut) == set(Door)


def test_a_policy_note_that_lost_its_marker_has_vanished() -> None:
    policy, _ = choose_policy({"dreaming.md": "- dreaming: on"}, was_there=True)
    assert set(policy.shut) == set(Door)


def test_the_rendered_note_is_the_defaults_and_has_no_problem() -> None:
    text = render_policy_note(vault_id="abcdefgh2345")
    policy, problems = choose_policy({"dreaming.md": text})
    assert problems == ()
    assert policy.settings == Settings()
    assert policy.vault_id == "abcdefgh2345"
    assert all(policy.origin(name).source is SettingSource.NOTE for name in SETTINGS)
    assert settings(render_policy_note({"dream_folder": "aria dreams"})).dream_folder == "aria dreams"


def test_every_key_has_a_row_that_holds_together() -> None:
    table = render_table()
    for name, setting in SETTINGS.items():
        assert f"| `{name}` |" in table
        assert setting.row.meaning
        assert type(setting.default) is type(setting.row.closed), name


def test_no_two_keys_are_near_to_each_other() -> None:
    for name in SETTINGS:
        assert near_keys(name) == (name,)


@pytest.mark.parametrize(
    "word", ["tags", "aliases", "created", "Note", "ignore", "private", "cssclasses", "date", "title"]
)
def test_ordinary_words_are_near_to_nothing(word: str) -> None:
    assert near_keys(word) == ()
