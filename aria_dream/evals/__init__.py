"""Labelled corpora: how they are read, scored and printed.

Running a judge over them is a use case.
Imports `injection` and below.
"""
