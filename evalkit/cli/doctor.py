"""`evalkit doctor`: can this machine run evalkit, and is anything left behind?"""

from __future__ import annotations

from typing import Annotated

import typer

from evalkit.errors import CheckFailed


def doctor(
    clean: Annotated[bool, typer.Option("--clean", help="Remove what killed runs left behind.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Check what evalkit needs on this machine, and say what to do about the rest."""
    from evalkit.cli.console import print_json, printable, stdout
    from evalkit.engine.examine import examine
    from evalkit.sandbox import clean as remove_leftovers

    removed = remove_leftovers() if clean else []
    findings = examine()
    if json:
        print_json(
            {
                "checks": [
                    {"name": f.name, "ok": f.ok, "detail": f.detail, "hint": f.hint, "required": f.required}
                    for f in findings
                ],
                "removed": removed,
            }
        )
    else:
        console = stdout()
        for found in findings:
            mark = "ok     " if found.ok else "MISSING" if found.required else "none   "
            console.print(printable(f"{mark}  {found.name}: {found.detail}"), markup=False, soft_wrap=True)
            if found.hint and not found.ok:
                console.print(printable(f"         {found.hint}"), markup=False, soft_wrap=True)
        for path in removed:
            console.print(printable(f"removed  {path}"), markup=False, soft_wrap=True)
        if clean and not removed:
            console.print("nothing to remove")
    if any(found.required and not found.ok for found in findings):
        raise CheckFailed("this machine cannot run evalkit as it is", hint="See what is missing above.")
