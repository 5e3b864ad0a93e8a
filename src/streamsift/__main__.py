"""`python -m streamsift` is the command line."""

from streamsift.cli.main import main

main()
