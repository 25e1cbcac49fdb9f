"""The data paths in order, as code: dream, decide, reach, consolidate, synthesize, evaluate.

A use case joins pure rules with adapters and returns a value; printing is `cli`.
Imports `adapters` and below; never a command.
"""
