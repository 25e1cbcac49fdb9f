"""The state folder: records of runs, status, graduation, the lines of the working memory, rotating logs.

The reach's ledger and consent are `adapters.gate`; a change's journal is `adapters.disk`.
"""
