"""How is a template filled in, and what is said of one that is wrong?

Templates, styles and scripts of a project take the place of the bundled ones, file by file. Whatever goes wrong with
them is told with the file, and the line where that is known.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Sequence
from pathlib import Path

from jinja2 import (
    Environment,
    FileSystemLoader,
    StrictUndefined,
    TemplateNotFound,
    TemplateSyntaxError,
)

from evalkit.errors import ConfigError
from evalkit.project import Project
from evalkit.trajectory.printable import cut

FOLDER = "reports"
_HINT = "Repair it, or remove it: the bundled one then takes its place."
_ENDS_IT = {
    ".css": (re.compile(r"</style|\0", re.IGNORECASE), "the style that it is part of", r"<\/style"),
    ".js": (
        re.compile(r"</script|<!--|\0", re.IGNORECASE),
        "the script that it is part of",
        r"<\/script or <\!--",
    ),
}
"""What no file of a kind may hold, as a page would end there what it is put into."""


class Templates:
    """A project's own files and the bundled ones."""

    def __init__(self, project: Project) -> None:
        self._own = Path(os.path.normpath(project.root / FOLDER))
        self._loader = _Loader([self._own, project.bundled / FOLDER])
        self._environment = Environment(
            autoescape=True, undefined=StrictUndefined, loader=self._loader, keep_trailing_newline=True
        )

    def together(self, names: Sequence[str]) -> str:
        """Styles or scripts as one text. Raises ConfigError for one that would end what it is put into."""
        return "\n".join(map(self._safe, names))

    def filled(self, template: str, values: dict[str, object]) -> str:
        """The page. Raises ConfigError for whatever goes wrong in a template of the project's own."""
        try:
            text = self._environment.get_template(template).render(values)
            text.encode("utf-8")
        except ConfigError:
            raise
        except Exception as error:
            where = self._where(error)
            if where is None:
                where = str(self._own / template)
                if not Path(where).is_file():
                    raise  # a fault of ours, not of a project
            raise ConfigError(f"the template is wrong: {_said(error)}", where=where, hint=_HINT) from error
        return text

    def _safe(self, file: str) -> str:
        text, path, _ = self._loader.get_source(self._environment, file)
        forbidden, what, instead = _ENDS_IT[Path(file).suffix]
        if found := forbidden.search(text):
            line = text.count("\n", 0, found.start()) + 1
            raise ConfigError(
                f"{found.group()!r} would end {what}",
                where=f"{path}:{line}",
                hint=f"Write {instead}, or remove the file: the bundled one then takes its place.",
            )
        return text

    def _where(self, error: BaseException) -> str | None:
        """The last place in a template of the project's own that the error came about in, or that was being read."""
        if isinstance(error, TemplateSyntaxError) and error.filename is not None:
            return f"{error.filename}:{error.lineno}"
        lines = [
            f"{frame.f_code.co_filename}:{line}"
            for frame, line in traceback.walk_tb(error.__traceback__)
            if Path(frame.f_code.co_filename).is_relative_to(self._own)
        ]
        return lines[-1] if lines else None


class _Loader(FileSystemLoader):
    """Names the file that cannot be read."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, object]:  # type: ignore[override]
        try:
            return super().get_source(environment, template)
        except (UnicodeDecodeError, OSError) as error:
            if isinstance(error, TemplateNotFound):  # is an OSError too
                raise
            raise self._unreadable(template, error) from error

    def _unreadable(self, template: str, error: UnicodeDecodeError | OSError) -> ConfigError:
        paths = [Path(folder) / template for folder in self.searchpath]
        where = next((path for path in paths if path.is_file()), paths[0])
        if isinstance(error, OSError):
            return ConfigError(f"cannot be read: {error.strerror or error}", where=str(where), hint=_HINT)
        line = error.object.count(b"\n", 0, error.start) + 1
        return ConfigError("is not UTF-8", where=f"{where}:{line}", hint=f"Store it as UTF-8. {_HINT}")


def _said(error: BaseException) -> str:
    if isinstance(error, TemplateNotFound):
        return f"there is no file {cut(str(error.name))!r}, neither here nor bundled"
    text = cut(str(error))
    if isinstance(error, TemplateSyntaxError) or type(error).__module__.startswith("jinja2"):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
