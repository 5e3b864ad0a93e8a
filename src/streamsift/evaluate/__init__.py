"""Running a selector over a stream and recording what it says (layer L6)."""
