"""Lessons from a working memory: evidence, admission, the log and the contract that both must meet.

The memory's files are read and written by `usecases.synthesis`.
Imports `reach` and below, neither `review` nor `consolidate`.
"""
