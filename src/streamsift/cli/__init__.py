"""The command line (layer L8): one verb, one file; only this package prints."""
