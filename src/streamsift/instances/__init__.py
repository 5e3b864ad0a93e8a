"""Methods that buy the values of one instance one at a time."""
