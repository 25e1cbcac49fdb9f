"""The version of this package, as `pyproject.toml` has it (a test holds them together)."""

__version__ = "0.1.0"
