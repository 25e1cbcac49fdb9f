"""The README's dream is the first that the demo writes; only the day and the digits may differ between machines."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
README = REPOSITORY / "README.md"
BEGIN, END = "<!-- dream note begin -->", "<!-- dream note end -->"


def first_dream() -> str:
    """The first block of the dream note that the demo prints."""
    done = subprocess.run(
        [sys.executable, "-m", "aria_dream", "demo"],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "utf-8"},
        check=True,
        timeout=240,
    )
    lines = done.stdout.decode("utf-8").replace("\r\n", "\n").split("\n")
    marks = [number for number, line in enumerate(lines) if re.fullmatch(r"---( dreams/.* ---)?", line)]
    note = "\n".join(lines[marks[0] + 2 : marks[-1]]).strip("\n")
    blocks = re.split(r"^(?=## \d\d:\d\d )", note, flags=re.MULTILINE)
    return blocks[1].strip("\n")


def section() -> str:
    text = README.read_text(encoding="utf-8")
    return text.partition(BEGIN)[2].partition(END)[0]


def without_figures(text: str) -> str:
    return re.sub(r"\d\.\d+", "#", text)


def test_the_sample_is_what_the_demo_writes() -> None:
    assert without_figures(section()) == without_figures(f"\n````markdown\n{first_dream()}\n````\n")


if __name__ == "__main__":  # `make docs`
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    README.write_text(f"{before}{BEGIN}\n````markdown\n{first_dream()}\n````\n{END}{after}", encoding="utf-8")
