"""F4: the nightly consolidation, pure."""
