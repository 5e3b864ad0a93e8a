"""`streamsift completion`: the script that lets a shell complete verbs, options and method names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

EXAMPLES = """\b
Examples:
  streamsift completion bash >> ~/.bashrc
  streamsift completion zsh >> ~/.zshrc
  streamsift completion fish > ~/.config/fish/completions/streamsift.fish
"""


@click.command(short_help="Print a shell's completion script.", epilog=EXAMPLES)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that makes SHELL (bash, zsh or fish) complete streamsift's verbs, options and method names."""
    kind = get_completion_class(shell)
    assert kind is not None  # click knows these three
    click.echo(kind(context.find_root().command, {}, "streamsift", "_STREAMSIFT_COMPLETE").source())
