"""What changes in a vault while the daemon looks: watcher, own writes, copies made by a sync, wake-up event.

An event only says "look again"; what changed comes from comparing hashes.
"""
