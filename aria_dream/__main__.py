"""`python -m aria_dream` is the command `aria-dream`."""

from __future__ import annotations

from aria_dream.cli import main

if __name__ == "__main__":
    main()
