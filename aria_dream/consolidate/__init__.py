"""The night's work on passages: near-duplicates, contradictions, stale notes, and the report.

It only ever proposes. The tables of passages on disk are `adapters.passages`.
Imports `review` and below.
"""
