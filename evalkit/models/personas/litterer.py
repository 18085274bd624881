"""How does an agent work that does not tidy up?

It solves the task as the oracle does, then plays `solution/litter.sh`; without one it leaves a file in `/tmp`, one in
its home, and a process that sleeps.
"""

from __future__ import annotations

from evalkit.models.personas.oracle import play
from evalkit.models.personas.persona import Deed, Persona
from evalkit.models.personas.player import playing

LITTER = (
    Deed("I keep a scratch file, in case I need it again.", "echo scratch > /tmp/scratch.txt"),
    Deed("I keep my notes at home.", 'echo "what I have done" > "${HOME:-/root}/notes.txt"'),
    Deed("I leave something running.", "sleep 0.2; nohup sleep 3600 > /dev/null 2>&1 & sleep 0.2"),
)

LITTERER = Persona(
    "litterer",
    "solves the task, then leaves files and a process behind (litter.sh, else its own)",
    needs_solution=True,
    make=playing(play),
    beside="litter.sh",
    without=LITTER,
)
