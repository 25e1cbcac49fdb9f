"""The only code that touches the world, one room for each outside thing, named after it.

No rule of the product is decided here. Imports `world` and below; never a use case or a command.
"""
