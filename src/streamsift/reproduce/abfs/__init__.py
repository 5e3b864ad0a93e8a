"""Barddal et al. (2019), Boosting Decision Stumps for Dynamic Feature Selection on Data Streams."""
