"""A command's options as one object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from evalkit.cli.option_group import grouped


@dataclass(frozen=True, slots=True, kw_only=True)
class Baking:
    minutes: Annotated[int, typer.Option(min=1, help="How long.")] = 20
    spices: Annotated[list[str] | None, typer.Option("--spice", "-s", help="What goes in.")] = None
    fan: Annotated[bool, typer.Option("--fan/--no-fan", help="With moving air.")] = False


@grouped(Baking)
def bake(
    options: Baking,
    cake: Annotated[str, typer.Argument(help="What is baked.")] = "bread",
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing.")] = False,
) -> None:
    """Bake something."""
    typer.echo("" if quiet else f"{cake} {options}")


@pytest.fixture(scope="module")
def baking():
    app = typer.Typer()
    app.command()(bake)
    return lambda *args: CliRunner().invoke(app, list(args))


def test_what_is_not_given_has_the_defaults_of_the_fields(baking):
    assert baking().output == f"bread {Baking()}\n"


def test_each_field_is_an_option_of_its_own_beside_those_of_the_command(baking):
    told = baking("rye", "--minutes", "50", "-s", "salt", "--spice", "caraway", "--fan")
    assert told.output == f"rye {Baking(minutes=50, spices=['salt', 'caraway'], fan=True)}\n"
    assert baking("--quiet").output == "\n"


def test_limits_and_help_are_those_of_the_fields(baking):
    assert baking("--minutes", "0").exit_code == 2
    help_text = baking("--help").output
    places = [
        help_text.index(word) for word in ("Bake something", "--minutes", "--spice", "--fan", "--quiet")
    ]
    assert places == sorted(places)
