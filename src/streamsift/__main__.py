"""`python -m streamsift` is the command line, and so is the script `streamsift`."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from contextlib import suppress
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line, and end the process with its code."""
    _end(exit_code_of_run())


def exit_code_of_run() -> int:
    """Run the command line; Ctrl-C is answered from the first import on."""
    try:
        from streamsift.core.interrupts import listen

        listen()
        from streamsift.cli.errors import run
        from streamsift.cli.main import cli

        return run(cli)
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted.\n")
        from streamsift.core.interrupts import exit_code

        return exit_code()


def _end(code: int) -> NoReturn:
    """End the process now: for what Python clears away at its end it takes a second, and a Ctrl-C in it kills.

    Threads that are to be waited for, and what was registered to be done at the end, come first, as in Python itself.
    """
    with suppress(KeyboardInterrupt):  # all is done, and said
        threading._shutdown()  # type: ignore[attr-defined]  # which Python calls at its end
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody reads any more
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
