"""How is a misspelt verb answered, and what do verbs raise that Typer must not answer in its own ways?"""

from __future__ import annotations

import difflib

from typer.core import TyperGroup

from evalkit.cli.interrupt import Interrupted, ReaderGone


class NearestMatch(TyperGroup):
    """A group of commands that answers an unknown name with the nearest one."""

    def resolve_command(self, ctx, args):  # type: ignore[no-untyped-def]
        """Find the command, or name the nearest."""
        name = args[0] if args else ""
        if name and self.get_command(ctx, name) is None and not name.startswith("-"):
            names = self.list_commands(ctx)
            near = difflib.get_close_matches(name, names, n=1)
            guess = f"Did you mean '{near[0]}'?" if near else f"Known: {', '.join(names)}."
            ctx.fail(f"there is no command '{name}'. {guess}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx):  # type: ignore[no-untyped-def]
        """Run the verb. Raises Interrupted and ReaderGone for the two that Typer turns into exit codes of its own."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interrupted from error
        except BrokenPipeError as error:
            raise ReaderGone from error
