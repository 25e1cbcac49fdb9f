"""F6: the data paths, in order, as code: a dream, a review, a reach, a cold look, a consolidation."""
