"""The `tokwire` command: decode, check and show recorded or live streams of language-model responses.

It binds the pure decoder to files, pipes and terminals, and decides nothing about a protocol. `main` is the entry
point of the console script and of `python -m tokwire`.
"""

from ._main import main

__all__ = ["main"]
