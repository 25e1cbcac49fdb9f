"""Codex CLI as a child process: its wall, its home, its events and the requests that it sends.

What is asked and what the answer means is `reach`.
"""
