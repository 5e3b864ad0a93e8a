"""Runs that are killed again and again, and end as if nothing had happened: `python -m tests.kills --times 300`."""
