"""`streamsift methods`: the catalog as a table."""

from __future__ import annotations

import json

import click

EXAMPLES = """\b
Examples:
  streamsift methods
  streamsift methods --json
"""


@click.command(short_help="List the methods.", epilog=EXAMPLES)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON and nothing else.")
def methods(as_json: bool) -> None:
    """List every method: its name, what it reads (rows, columns or instances), what it does, and its paper.

    The column "targets" says what a method selects features for: classes, numbers, both, or none if it uses no
    target. Row methods take numbers with --task regression, which auto detects.

    The note of some methods says how they fare on real data with their default settings.
    """
    from streamsift import catalog
    from streamsift.cli.table import print_table

    entries = {name: catalog.entry(name) for name in catalog.names()}
    if as_json:
        described = [
            {"name": name} | {part: getattr(entry, part) for part in ("kind", "targets", "summary", "note", "paper")}
            for name, entry in entries.items()
        ]
        click.echo(json.dumps(described, indent=2, ensure_ascii=False))
        return
    rows = [
        [name, entry.kind, entry.targets, entry.summary, entry.note, entry.paper] for name, entry in entries.items()
    ]
    print_table(["method", "arrives", "targets", "summary", "note", "paper"], rows)
