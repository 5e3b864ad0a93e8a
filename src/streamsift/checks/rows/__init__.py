"""Checks of row selectors only."""
