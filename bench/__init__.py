"""Benchmarks of tokwire: `python -m bench` from a clone; docs/performance.md says how to read what it prints."""
