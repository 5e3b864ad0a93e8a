"""Published figures beside measured ones: one folder per paper."""
