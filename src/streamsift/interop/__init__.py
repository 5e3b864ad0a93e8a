"""streamsift beside other libraries; each file needs its own optional package (layer L6)."""
