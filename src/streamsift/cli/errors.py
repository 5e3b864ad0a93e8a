"""How a verb ends: exit codes and the one sentence that explains them.

0  done      1  expected error (wrong data, wrong name, file system)     2  wrong usage
3  unexpected error, with a log file to attach to a report     130, 143  interrupted by Ctrl-C, by SIGTERM
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
import warnings
from typing import TextIO

import click

from streamsift import __version__
from streamsift.core.atomic import reason
from streamsift.core.exceptions import ReadingNotice, StreamsiftError, one_line
from streamsift.core.interrupts import exit_code


def run(command: click.Command, arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a name the terminal cannot show must not end a run
    with warnings.catch_warnings():
        _show_warnings_as_sentences()
        try:
            result = command.main(arguments, prog_name="streamsift", standalone_mode=False)
            sys.stdout.flush()
        except click.Abort:
            return _say("Interrupted.", exit_code())
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except BrokenPipeError:
            # The reader of our output (head, less) has left: nothing more to say, and nobody to say it to.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        except StreamsiftError as error:
            return _say(f"Error: {error}", 1)
        except OSError as error:
            return _say(f"Error: {sentence(error)}", 1)
        except MemoryError:
            return _say(
                "Error: There is not enough memory for this: leave columns out (--ignore), use smaller batches, or a "
                "method that keeps less, such as ofs.",
                1,
            )
        except Exception as error:  # noqa: BLE001 - the last resort of the command line: nothing may end in a traceback
            return _say(f"Unexpected error: {type(error).__name__}: {error}\n{_write_log()}", 3)
    return result if isinstance(result, int) else 0


def sentence(error: OSError) -> str:
    """One sentence for an error of the file system.

    >>> sentence(FileNotFoundError(2, "No such file or directory", "people.csv"))
    "'people.csv': no such file or directory."
    """
    if error.strerror is None:  # of pyarrow, in several lines
        return one_line(str(error).strip())
    return f"{str(error.filename)!r}: {reason(error)}." if error.filename is not None else f"{error.strerror}."


def _say(text: str, code: int) -> int:
    click.echo(text, err=True)
    return code


def _show_warnings_as_sentences() -> None:
    usual = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, ReadingNotice):
            click.echo(str(message), err=True)
        elif category.__module__.partition(".")[0] == "streamsift":
            click.echo(f"Warning: {message}", err=True)
        else:
            usual(message, category, filename, lineno, file, line)

    warnings.showwarning = show


def _write_log() -> str:
    """Write the traceback of the current exception to a file and return the sentence that says where."""
    about = [f"streamsift {__version__}", f"Python {sys.version}", f"platform {sys.platform}", f"command {sys.argv}"]
    text = "\n".join([*about, "", traceback.format_exc()])
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="streamsift-error-", suffix=".log", delete=False, encoding="utf-8"
        ) as log:
            log.write(text)
    except OSError:
        return text  # no place for a file: then here
    return f"This is a defect of streamsift. Please report it and attach {log.name}"
