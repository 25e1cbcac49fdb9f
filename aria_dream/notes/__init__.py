"""The grammar of the notes that we write: dream log, review note, ticks, seeds, canvas.

Every parser has its printer, and parsing what was printed gives the same value. Who writes the text where is `review`
and the use cases.
Imports `ranking` and below.
"""
