"""How good a selection is, where the true features are known (layer L2)."""
