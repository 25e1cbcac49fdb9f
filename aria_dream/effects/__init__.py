"""F6: the only code that touches the world."""
