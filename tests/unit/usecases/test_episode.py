"""What the daemon's child, and the daemon itself, load: no command, and nothing that draws a terminal."""

import subprocess
import sys
from pathlib import Path

import pytest

import aria_dream
from aria_dream.adapters.disk.write_probe import CHILD

USECASES = sorted(f"aria_dream.usecases.{path.stem}" for path in Path(aria_dream.__file__).parent.glob("usecases/*.py"))


def loaded(*modules: str) -> set[str]:
    """The modules of an interpreter that has imported these and nothing else."""
    code = f"import {', '.join(modules)}, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("module", [CHILD, "aria_dream.daemon"])
def test_neither_the_child_nor_the_daemon_imports_a_command(module: str) -> None:
    found = loaded(module)
    assert module in found
    assert not [name for name in found if name == "click" or name.startswith(("click.", "aria_dream.cli"))]


def test_no_use_case_that_the_child_may_start_imports_a_command() -> None:
    found = loaded(*(name.removesuffix(".__init__") for name in USECASES))
    assert CHILD in found
    assert not [name for name in found if name.startswith("aria_dream.cli")]
