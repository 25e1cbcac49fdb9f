"""Looking at cited pages: what is asked for, whom, and what of the answer counts. Real sockets on loopback."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, ClassVar

import pytest

from aria_dream.adapters.gate.consent import write_consent
from aria_dream.adapters.gate.egress import EGRESS, find_endpoint
from aria_dream.adapters.models.model_http import Patience
from aria_dream.evals.reach_corpus import AnsweringModel, RecordedAnswer, parse_reach_answers
from aria_dream.usecases.eval_reach import look_at_sources, save_answers
from aria_dream.usecases.eval_sources import LONGEST_PAGE_BYTES, SourceCheck, is_public
from tests.unit.evals.test_reach_score import INTERNAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PAGE = b"<html><head><title>Tides</title><script>var sbar = 1</script></head><body>The Moon &amp; the sea</body></html>"


class Pages(BaseHTTPRequestHandler):
    asked: ClassVar[list[tuple[str, dict[str, str]]]]

    def log_message(self, *_arguments: object) -> None:
        pass

    def do_GET(self) -> None:
        self.asked.append((self.path, dict(self.headers.items())))
        name = self.path.partition("?")[0]
        status, body, more = {
            "/tides": (200, PAGE, {}),
            "/gone": (410, b"", {}),
            "/paper.pdf": (200, b"%PDF-1.7 \x00\x01", {}),
            "/login": (403, b"", {}),
            "/busy": (503, b"", {}),
            "/moved": (302, b"", {"Location": "/tides"}),
            "/away": (301, b"", {"Location": "http://private.example/secret"}),
            "/file": (302, b"", {"Location": "file:///etc/passwd"}),
            "/round": (302, b"", {"Location": "/round"}),
            "/endless": (200, b"moon " * LONGEST_PAGE_BYTES, {}),
        }.get(name, (404, b"no such page about the moon", {}))
        self.send_response(status)
        for header, value in more.items():
            self.send_header(header, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            return  # the reader had enough


@contextmanager
def serving() -> Iterator[tuple[str, list[tuple[str, dict[str, str]]]]]:
    asked: list[tuple[str, dict[str, str]]] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Pages,), {"asked": asked})) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://pages.example:{server.server_address[1]}", asked
        finally:
            server.shutdown()
            thread.join()


def resolve(host: str, _port: int) -> list[str]:
    known = {"pages.example": ["127.0.0.1"], "private.example": ["10.0.0.7"], "meta.example": ["169.254.169.254"]}
    if host not in known:
        raise OSError("no such name")
    return known[host]


@pytest.fixture
def site() -> Iterator[tuple[str, list[tuple[str, dict[str, str]]]]]:
    with serving() as found:
        yield found


def check(state: Path, *, confirmed: bool = True, permitted: Callable[..., bool] | None = None) -> SourceCheck:
    if confirmed:
        write_consent(state, datetime.now(UTC))
    return SourceCheck(
        state=state, resolve=resolve,
        permitted=permitted or (lambda endpoint: endpoint.address == "127.0.0.1"),
        patience=Patience(connect_s=5, load_s=10, read_s=10, total_s=20),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "about", "finding"),
    [
        ("/tides", ("the MOON & the", "sbar"), "real"),
        ("/tides", (), "real"),
        ("/tides", ("sbar",), "irrelevant"),
        ("/tides?x=1&utm_source=ad", ("moon",), "real"),
        ("/nothing", ("moon",), "fabricated"),
        ("/gone", ("moon",), "fabricated"),
        ("/paper.pdf", ("moon",), "real"),
        ("/login", ("moon",), "unknown"),
        ("/busy", ("moon",), "unknown"),
        ("/moved", ("moon",), "real"),
        ("/away", ("moon",), "unknown"),
        ("/file", ("moon",), "unknown"),
        ("/round", ("moon",), "unknown"),
        ("/endless", ("moon",), "real"),
    ],
)
def test_what_becomes_of_a_page(
    tmp_path: Path, site: tuple[str, list[tuple[str, dict[str, str]]]], path: str, about: tuple[str, ...], finding: str
) -> None:
    base, asked = site
    assert check(tmp_path).check(base + path, about).finding == finding
    assert len(asked) <= 4
    assert all("utm_source" not in path for path, _ in asked)
    for _, headers in asked:
        assert set(headers) == {"Host", "Accept", "Accept-Encoding", "User-Agent"}
    rows = [json.loads(line) for line in (tmp_path / EGRESS).read_text().splitlines()]
    assert len(rows) == len(asked)
    assert {(row["purpose"], row["destination"], str(row["excerpts"])) for row in rows} == {("resolve", base, "[]")}


def test_a_name_that_nobody_knows_is_fabricated_and_asks_nobody(tmp_path: Path) -> None:
    found = check(tmp_path).check("https://journal-of-nothing.example/1")
    assert (found.finding, found.reached) == ("fabricated", False)
    assert not (tmp_path / EGRESS).exists()


@pytest.mark.parametrize(
    "url",
    [
        "http://private.example/a", "http://meta.example/latest", "http://127.0.0.1/a", "http://10.1.2.3/a",
        "http://[::1]/a", "http://localhost/a", "http://user@pages.example/a", "ftp://pages.example/a",
        "javascript:alert(1)", "http://2130706433/", "http://0x7f000001/", "",
    ],
)  # fmt: skip
def test_nothing_private_is_ever_asked(tmp_path: Path, url: str) -> None:
    assert check(tmp_path, permitted=is_public).check(url).finding == "unknown"
    assert not (tmp_path / EGRESS).exists()


def test_only_the_open_internet_is_public() -> None:
    for url in ("http://127.0.0.1", "http://10.0.0.1", "http://169.254.169.254", "http://[fd00::1]", "http://100.64.0.1"):
        endpoint = find_endpoint(url)
        assert not is_public(endpoint), url  # type: ignore[arg-type] # an endpoint, or the attribute is missing
    assert is_public(find_endpoint("http://93.184.215.14"))  # type: ignore[arg-type] # as above


def test_without_confirmation_nothing_is_asked(
    tmp_path: Path, site: tuple[str, list[tuple[str, dict[str, str]]]]
) -> None:
    base, asked = site
    looked = check(tmp_path, confirmed=False)
    assert "nobody confirmed" in looked.refusal()
    assert looked.check(f"{base}/tides").finding == "unknown"
    assert asked == []


def answers_of(*urls: str) -> list[RecordedAnswer]:
    return [
        RecordedAnswer(item="i", model=f"m{number}", text=f"HOMES\nEdge: e\nSources:\n- {url}\n- A title\n",
                       requests=1, seconds=1.0)
        for number, url in enumerate(urls)
    ]  # fmt: skip


def test_each_cited_address_is_looked_at_once(
    tmp_path: Path, site: tuple[str, list[tuple[str, dict[str, str]]]]
) -> None:
    base, asked = site
    given = answers_of(f"{base}/nothing", f"{base}/nothing", "https://journal-of-nothing.example/1")
    looked, reached = look_at_sources([INTERNAL], given, check(tmp_path))
    assert reached
    assert [list(answer.findings.values()) for answer in looked] == [["fabricated"]] * 3
    assert len(asked) == 1


def test_without_a_network_nobody_is_accused(tmp_path: Path) -> None:
    given = answers_of("https://journal-of-nothing.example/1")
    looked, reached = look_at_sources([INTERNAL], given, check(tmp_path))
    assert (list(looked), reached) == (given, False)


def test_answers_that_were_kept_are_read_again(tmp_path: Path) -> None:
    model = AnsweringModel(name="m0", rank=1, made="recorded")
    given = answers_of("https://example.org/é\u2028x")
    save_answers(tmp_path / "kept.jsonl", {"m0": model}, given)
    models, answers, problems = parse_reach_answers((tmp_path / "kept.jsonl").read_text("utf-8"))
    assert ((model,), tuple(given), ()) == (models, answers, problems)
