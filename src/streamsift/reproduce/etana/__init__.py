"""Warahena Liyanage et al. (2020), On-the-Fly Joint Feature Selection and Classification."""
