"""The machine: idle time, power, load, notices, threads, and the service that starts the daemon.

A sensor that cannot be read counts as busy.
"""
