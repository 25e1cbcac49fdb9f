"""L1: the built-in judge, the prompt for a model and the reading of its verdict, and the reasons in words.

Everything is pure: asking a model is `adapters.models`.
Imports `notes` and below.
"""
