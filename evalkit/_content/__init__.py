"""Where do the bundled suites, scorers and reports live?

In an installed wheel they are folders beside this file; in a checkout they are the folders at the
root of the repository. `ROOT` is the folder that holds them, and this package's `__path__`.
(`importlib.resources` finds the wrong folder in editable installs.)
"""

from pathlib import Path

_here = Path(__file__).resolve().parent
ROOT: Path = _here if (_here / "suites").is_dir() else _here.parent.parent
__path__ = [str(ROOT)]
