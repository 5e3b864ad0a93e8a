"""Inputs made to break things, by the thousand: `python -m tests.fuzz readers --seconds 60 --seed 0`."""
