"""Whatever leaves this machine or spends a budget: consent, the egress gate and its log, the reach's ledger.

It takes only `ShareableExcerpt`s and `Granted` requests.
"""
