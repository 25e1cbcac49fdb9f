"""L2 and L3 as values: request, budget, ledger lines, answer, block, answer cache, and the independent review (Janus).

Nothing here sends: Codex is `adapters.codex`, the ledger's file and the gate are `adapters.gate`.
Imports `schedule` and below.
"""
