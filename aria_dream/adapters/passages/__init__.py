"""The tables of passages and claims in the cache folder, on which the night works.

Everything in them may be deleted at any time and is computed again.
"""
