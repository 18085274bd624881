"""Where does the command line start?

`main` is the only place that turns an error into text and an exit code. Verbs import what they need when
they run, so that `evalkit --help` stays fast.
"""

from __future__ import annotations

import os
import signal
import sys

import typer

from evalkit.cli.doctor import doctor
from evalkit.cli.group import NearestMatch
from evalkit.cli.init import init
from evalkit.cli.resume import resume
from evalkit.cli.run import run
from evalkit.cli.show import show
from evalkit.cli.suite import suite_app
from evalkit.errors import EvalkitError

app = typer.Typer(
    name="evalkit",
    help="Run agents on executable tasks, keep every step, and judge how they worked.",
    cls=NearestMatch,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from evalkit import __version__

        typer.echo(f"evalkit {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Run agents on executable tasks, keep every step, and judge how they worked."""
    del version


app.command()(run)
app.command()(resume)
app.command()(show)
app.add_typer(suite_app, name="suite")
app.command()(doctor)
app.command()(init)


def main() -> None:
    """Run the command line and exit with its code."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:  # under nohup it is ignored, and stays so
            signal.signal(number, _as_interrupt)
    try:
        app(prog_name="evalkit")
    except EvalkitError as error:
        from evalkit.cli.console import note, printable

        note(f"{error.where}: {error.message}" if error.where else error.message)
        if error.hint:
            typer.echo(f"  {printable(error.hint)}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.echo("evalkit: interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read our output has gone, as `head` does: end as a program that SIGPIPE ends, without a word.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:
        from evalkit.cli.console import note

        note(f"{error.filename or 'the system'}: {error.strerror or error}")
        typer.echo(
            "  Check that this folder, the home folder and the disk are there and can be written to.",
            err=True,
        )
        sys.exit(2)


def _as_interrupt(*_: object) -> None:
    """A cancelled CI job or a closed terminal ends a run as cleanly as Ctrl-C does."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # in the background of a shell script
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.kill(os.getpid(), signal.SIGINT)
