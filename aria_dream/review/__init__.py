"""F4: proposals and what becomes of them, pure."""
