"""Many notes together: names, link resolution, the link graph, edit plans, Obsidian's own settings.

Everything here is computed from values that were read elsewhere; a plan says what would be written and writes nothing.
Imports `markdown` and `errors`.
"""
