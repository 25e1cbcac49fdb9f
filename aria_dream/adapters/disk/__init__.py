"""The vault's files: safe paths, the one writer, locks, the journal of a change and its history.

Nothing else in the package opens a vault file for writing. What is written is planned in `vault` and `review`.
"""
