"""`dreaming.md` and `triggers.md` as values, with every setting in one table (`keys.py`), and the file layout.

What a setting leads to is decided by the rooms above; reading the files is `adapters.index`.
Imports `vault` and below.
"""
