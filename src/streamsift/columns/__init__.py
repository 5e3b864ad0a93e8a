"""Selectors over streams of columns: the rows are fixed, a decision on each column as it is offered (layer L3)."""
