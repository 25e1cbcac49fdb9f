"""F4: the evidence-gated synthesis, pure."""
