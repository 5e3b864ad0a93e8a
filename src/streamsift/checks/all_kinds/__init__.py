"""Checks that hold for methods of several kinds, written once against a Driver (checks/drivers.py)."""
