"""Tables on the standard output: drawn for a terminal, tab-separated lines for a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, numeric: Sequence[str] = ()) -> None:
    """Print rows under a heading; a pipe gets every cell in full, whatever its length."""
    clean = [[printable(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in [columns, *clean]:
            click.echo("\t".join(row))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in numeric else "left", overflow="fold")
    for row in clean:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def printable(text: str) -> str:
    """The text with control characters spelt out: a column name must not steer somebody's terminal.

    >>> printable("a" + chr(27) + "[2Jb")
    'a\\\\x1b[2Jb'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
