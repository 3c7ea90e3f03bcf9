"""Fuzzing of tokwire: one target per layer, each of which asserts what must hold for every input.

A target is a module of `fuzz.targets` with `one_input(data: bytes) -> None`; `python -m fuzz TARGET --seconds N` runs
one, coverage guided where atheris is installed, with hypothesis otherwise.
"""
