"""Synthetic streams, one file each; `streamsift.streams.generate` lists them by name."""
