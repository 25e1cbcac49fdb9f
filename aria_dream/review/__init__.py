"""Proposals and what becomes of them: decision, plan of the change, application, undo, graduation.

Plans are pure; `adapters.disk` carries them out. What is proposed comes from `reach`, `consolidate` and the dream.
Imports `reach` and below.
"""
