"""Models on this machine or behind the gate: the embedder, the built-in judge's parts, Ollama and others.

A prompt and the reading of a verdict are `judging`; every call to an address that is not loopback goes through
`adapters.gate`.
"""
