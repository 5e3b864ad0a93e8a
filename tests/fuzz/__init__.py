"""Fuzzing: inputs nobody wrote, for a time that is given. `python -m tests.fuzz states --seconds 60 --seed 1`."""
