"""The child process in which an episode runs, and the permit by which its parent ends it.

A child without a parent ends at its next unit of work.
"""
