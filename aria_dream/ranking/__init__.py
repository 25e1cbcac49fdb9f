"""L0: words, vectors, structure and the walk that bring distant notes together.

It finds and orders pairs; whether one is worth the writer's time is for `judging`. Reading text and vectors from disk
is `adapters.index`.
Imports `privacy` and below.
"""
