"""Published figures beside measured ones: one file a paper (layer L7)."""
