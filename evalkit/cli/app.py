"""Where does the command line start?

`main` is the only place that turns an error into text and an exit code. Verbs import what they need when
they run, so that `evalkit --help` stays fast.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

import typer

from evalkit.cli.baseline import baseline_app
from evalkit.cli.compare import compare
from evalkit.cli.doctor import doctor
from evalkit.cli.gate import gate
from evalkit.cli.group import NearestMatch
from evalkit.cli.import_run import import_run
from evalkit.cli.init import init
from evalkit.cli.interrupt import CODE, Interrupted, Interrupts, ReaderGone, end_at_once
from evalkit.cli.models import models
from evalkit.cli.power import power
from evalkit.cli.reference import reference_app
from evalkit.cli.regrade import regrade
from evalkit.cli.report import report
from evalkit.cli.resume import resume
from evalkit.cli.run import run
from evalkit.cli.score import score
from evalkit.cli.show import show
from evalkit.cli.suite import suite_app
from evalkit.errors import EvalkitError, UsageError

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
app.command()(regrade)
app.command()(score)
app.command()(show)
app.command()(compare)
app.command()(gate)
app.command()(power)
app.command()(models)
app.command()(report)
app.command("import")(import_run)
app.add_typer(baseline_app, name="baseline")
app.add_typer(reference_app, name="reference")
app.add_typer(suite_app, name="suite")
app.command()(doctor)
app.command()(init)


def main() -> NoReturn:
    """Be the command `evalkit`, to the end of the process."""
    try:
        with Interrupts() as interrupts:
            code = command_line(interrupts)
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own end would answer with a traceback
            if interrupts.count:
                end_at_once(code)
    except KeyboardInterrupt:
        end_at_once(CODE)
    _drop_unread()
    sys.exit(code)


def _drop_unread() -> None:
    """Drop what is left in a stream that nobody reads: Python would end with exit code 120 for it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def command_line(interrupts: Interrupts) -> int:
    """Do what the process was asked; returns the exit code."""
    try:
        app(prog_name="evalkit", obj=interrupts)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else int(done.code is not None)
    except EvalkitError as error:
        return _answer(error)
    except (Interrupted, KeyboardInterrupt):
        typer.echo("evalkit: interrupted", err=True)
        return CODE
    except ReaderGone:
        # Whoever read our output has gone, as `head` does: end as a program that SIGPIPE ends, without a word.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        return _answer(
            UsageError(
                error.strerror or str(error),
                where=str(error.filename or "the system"),
                hint="Check that this folder, the home folder and the disk are there and can be written to.",
            )
        )
    return 0


def _answer(error: EvalkitError) -> int:
    from evalkit.cli.console import note, printable

    note(f"{error.where}: {error.message}" if error.where else error.message)
    if error.hint:
        typer.echo(f"  {printable(error.hint)}", err=True)
    return error.exit_code
