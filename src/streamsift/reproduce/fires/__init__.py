"""Haug et al. (2020), Leveraging Model Inherent Variable Importance for Stable Online Feature Selection."""
