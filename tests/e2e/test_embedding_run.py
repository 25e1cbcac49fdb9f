"""The real model in a real process: robust on any text, one thread, killed and resumed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from aria_dream.adapters.index.cache_store import ContentCache
from aria_dream.adapters.models.embedding import NOTES_PER_BATCH, Unembedded, load_embedder, read_vectors, vector_kind

REPOSITORY = Path(__file__).resolve().parents[2]
COUNT = 4 * NOTES_PER_BATCH

RUN = """
import sys
from pathlib import Path
from aria_dream.adapters.models.embedding import load_embedder, write_missing_vectors
from aria_dream.adapters.index.cache_store import ContentCache
sys.path.insert(0, sys.argv[2])
from test_embedding_run import notes

def progress(done, total):
    print(done, total, flush=True)
    if sys.argv[3] == "wait":
        sys.stdin.readline()

with ContentCache(Path(sys.argv[1])) as cache:
    write_missing_vectors(cache, load_embedder(), notes(), progress=progress)
"""


def notes() -> list[Unembedded]:
    from aria_dream.ranking.embedding import EmbeddedText, vector_key

    def one(number: int) -> Unembedded:
        text = f"note number {number} is about bread and time"
        return Unembedded(key=vector_key(bytes(32), text), passages=lambda: (EmbeddedText(text, 1.0),))

    return [one(number) for number in range(COUNT)]


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(cache: Path, mode: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(cache), str(Path(__file__).parent), mode],
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # a suite that runs in the background may have been told to ignore Ctrl-C, and its children with it
        preexec_fn=None if os.name == "nt" else _heed_interrupts,  # noqa: PLW1509 - this suite starts no threads here
    )


@pytest.mark.parametrize("how", ["SIGTERM", "SIGINT", "SIGKILL"])
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_killed_run_keeps_what_is_done_and_the_next_goes_on(tmp_path: Path, how: str) -> None:
    with start(tmp_path / "cache", "wait") as first:
        assert first.stdout is not None
        assert first.stdin is not None
        assert first.stdout.readline().split() == ["0", str(COUNT)]
        first.stdin.write("\n")
        first.stdin.flush()
        assert first.stdout.readline().split() == [str(NOTES_PER_BATCH), str(COUNT)]
        first.send_signal(getattr(signal, how))
        assert first.wait(timeout=60) != 0
    with start(tmp_path / "cache", "on") as second:
        assert second.stdout is not None
        lines = second.stdout.read().splitlines()
        assert second.wait(timeout=120) == 0
    assert lines[0].split() == ["0", str(COUNT - NOTES_PER_BATCH)]
    embedder = load_embedder()
    with ContentCache(tmp_path / "cache") as cache:
        _, known = read_vectors(cache, vector_kind(embedder), [note.key for note in notes()], embedder.dim)
    assert known.all()


def test_the_shipped_model_takes_any_text_and_is_deterministic() -> None:
    texts = [
        "", " \n", "\0", "a\0b", "a\udc80b", "\udfff", "\U0010ffff", "\u200b\u202e", "日本語のノート" * 40,
        "שלום עולם", "مرحبا بالعالم", "x" * 1_000_000, "word " * 200_000, "😀" * 3000,
    ]  # fmt: skip
    embedder = load_embedder()
    vectors = embedder.encode(texts)
    assert vectors.shape == (len(texts), embedder.dim)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3)
    assert np.array_equal(vectors, load_embedder().encode(texts))
    assert embedder.encode([]).shape == (0, embedder.dim)


def test_nearness_means_likeness() -> None:
    bread, same, levain, tax = load_embedder().encode(
        [
            "Feed the sourdough starter with flour every day.",
            "The sourdough starter is fed with flour daily.",
            "Den Sauerteig jeden Tag mit Mehl füttern.",
            "The tax return is due at the end of May.",
        ]
    )
    assert bread @ same > bread @ tax + 0.3
    assert bread @ levain > bread @ tax + 0.2
