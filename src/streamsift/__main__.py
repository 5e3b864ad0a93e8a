"""`python -m streamsift` is the command line, and so is the script `streamsift`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code; Ctrl-C is answered from the first import on."""
    try:
        from streamsift.core.interrupts import listen

        listen()
        from streamsift.cli.errors import run
        from streamsift.cli.main import cli

        code = run(cli)
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted.\n")
        from streamsift.core.interrupts import exit_code

        code = exit_code()
    # CPython notes a KeyboardInterrupt that passes through an exec() of text, as when a named tuple is made during an
    # import, and at its end kills itself with SIGINT although the exception was caught. The next exec() clears it.
    exec("")
    sys.exit(code)


if __name__ == "__main__":
    main()
