"""How do many options of a command become one object?"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Options = TypeVar("Options", bound="DataclassInstance")


def grouped(kind: type[Options]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command with each field of this dataclass as an option of its own, where its parameter `options` stands.

    Typer reads the options of a command from its signature, which is told what the fields are.
    """

    def command_of(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(kind, include_extras=True)
        own = [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=hints[field.name],
            )
            for field in fields(kind)
        ]
        written = inspect.signature(command, eval_str=True).parameters
        before = list(written)[: list(written).index("options")]
        first = [written[name] for name in before]
        others = [each for name, each in written.items() if name not in (*before, "options")]
        last = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in others]

        @functools.wraps(command)
        def called(**given: Any) -> None:
            command(options=kind(**{field.name: given.pop(field.name) for field in own}), **given)

        signature = inspect.Signature([*first, *own, *last])
        vars(called)["__signature__"] = signature
        called.__annotations__ = {name: each.annotation for name, each in signature.parameters.items()}
        return called

    return command_of
