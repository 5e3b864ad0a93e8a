"""`streamsift`: the group of verbs.

The verbs' files import nothing heavy at the top (the work is imported when a verb runs), so that `--help` and the
shell's completion answer at once.
"""

from __future__ import annotations

import click

from streamsift import __version__
from streamsift.cli.compare import compare
from streamsift.cli.completion import completion
from streamsift.cli.demo import demo
from streamsift.cli.generate import generate
from streamsift.cli.inspect import inspect
from streamsift.cli.methods import methods
from streamsift.cli.report import report
from streamsift.cli.reproduce import reproduce
from streamsift.cli.select import select
from streamsift.core.exceptions import near_misses

EXAMPLES = """\b
Examples:
  streamsift demo
  streamsift inspect people.csv --target income
  streamsift select people.csv --target income -k 10
  streamsift methods
"""


class Verbs(click.Group):
    """A group that lists its verbs in our order and answers an unknown one with the one that was probably meant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        verb = args[0]
        if verb not in self.commands and not verb.startswith("-") and not ctx.resilient_parsing:
            ctx.fail(f"There is no verb {verb!r}. {near_misses(verb, self.commands)}")
        return super().resolve_command(ctx, args)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXAMPLES)
@click.version_option(__version__, message="streamsift %(version)s")
def cli() -> None:
    """Select features while the data is still arriving."""


for _verb in (select, compare, inspect, report, methods, demo, generate, reproduce, completion):
    cli.add_command(_verb)
