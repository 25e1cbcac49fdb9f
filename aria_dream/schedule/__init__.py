"""What is due now and what holds it back: idle time, power, caps, the night and its window, the record of runs.

It decides from readings; taking the readings is `adapters.machine`.
Imports `judging` and below.
"""
