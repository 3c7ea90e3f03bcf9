"""Framing: bytes to frames. No module here knows what a frame means."""

__all__: list[str] = []
