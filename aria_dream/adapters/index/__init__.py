"""Reading a vault and keeping what was read: the index and the vectors in the cache folder, the live policy.

Everything in the cache may be deleted at any time and is computed again.
"""
