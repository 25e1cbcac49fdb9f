"""What may leave this machine: sharing, secrets, private names and look-alike letters.

Only this room makes a `ShareableExcerpt`. Sending is `adapters.gate`.
Imports `policy` and below.
"""
