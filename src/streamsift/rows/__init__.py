"""Selectors over a stream of rows."""
