"""F3: the tiers of a dream (L0 walk, L1 judge, later L2 and L3), pure."""
