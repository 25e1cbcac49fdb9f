"""One note as text: its links, properties, zones, prose and line ends.

Everything here takes text and returns values. How notes relate to each other is in `vault`; nothing reads a file.
Imports only `errors`.
"""
