"""The tables behind the defaults: `python -m benchmarks defaults [TABLE ...] --data DIR`."""
