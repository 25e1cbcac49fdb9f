"""The attack suites: texts that try to order a judge, a night or a reach about, and the check that none succeeds.

Cases are data here; who is attacked is handed in.
Imports `consolidate` and below.
"""
