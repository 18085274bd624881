"""Every kind of change that a trial can make to files, with what two snapshots show of it.

Run in both kinds of sandbox: by tests/sandbox/test_changes_seen.py and tests/docker/test_docker_changes_seen.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from evalkit.sandbox.protocol import Disk, Entry

Difference = Literal["created", "modified", "deleted", "mode"]
DISK = Disk("/app/small disk", 1024 * 1024)
MANY = 10_000
HUGE = 1024**3


@dataclass(frozen=True, slots=True)
class Change:
    """What is done in a folder of its own, and what is to be seen. Paths start at that folder, or are absolute."""

    name: str
    do: str
    seen: Mapping[str, Difference] = field(default_factory=dict[str, Difference])
    before: str = ":"

    @property
    def folder(self) -> str:
        return f"/app/{self.name}"

    @property
    def expected(self) -> dict[str, Difference]:
        """By absolute path."""
        return {path if path[0] == "/" else f"{self.folder}/{path}": what for path, what in self.seen.items()}


FILES = (
    Change("create", "echo new > made", {"made": "created"}),
    Change("modify", "echo new > file", {"file": "modified"}, before="echo old > file"),
    Change("append", "echo more >> file", {"file": "modified"}, before="echo old > file"),
    Change(
        "modify with size and time kept",
        "echo new > file; touch -d @1 file",
        {"file": "modified"},
        before="echo old > file; touch -d @1 file",
    ),
    Change("delete", "rm file", {"file": "deleted"}, before="echo x > file"),
    Change("delete a folder", "rm -r d", {"d": "deleted", "d/x": "deleted"}, before="mkdir d; echo x > d/x"),
    Change("chmod", "chmod 4755 file", {"file": "mode"}, before="echo x > file; chmod 644 file"),
    Change("chmod a folder", "chmod 700 d", {"d": "mode"}, before="mkdir -m 755 d"),
    Change("rename", "mv old new", {"old": "deleted", "new": "created"}, before="echo x > old"),
    Change(
        "rename a folder",
        "mv a b",
        {"a": "deleted", "a/x": "deleted", "b": "created", "b/x": "created"},
        before="mkdir a; echo x > a/x",
    ),
    Change("new folder", "mkdir d", {"d": "created"}),
    Change("swap a link", "ln -sfn /etc/hosts link", {"link": "modified"}, before="ln -s /etc/passwd link"),
    Change("file to link", "ln -sf /etc/passwd f", {"f": "modified"}, before="echo x > f"),
    Change("link to file", "rm f; cp /etc/passwd f", {"f": "modified"}, before="ln -s /etc/passwd f"),
    Change("touch only", "touch file; touch -d @9 file d", before="echo x > file; mkdir d"),
    Change("identical rewrite", "echo x > file", before="echo x > file"),
    Change("identical replacement", "cp file new; mv new file", before="echo x > file"),
    Change("chmod and back", "chmod 700 file; chmod 600 file", before="echo x > file; chmod 600 file"),
    Change("create then delete", "echo x > brief; rm brief; mkdir d; rmdir d"),
    Change("delete then restore", "cp file f; rm file; mv f file", before="echo x > file"),
    Change("hard link", "ln file twin", {"twin": "created"}, before="echo x > file"),
    Change(
        "write through a hard link",
        "echo y > twin",
        {"file": "modified", "twin": "modified"},
        before="echo x > file; ln file twin",
    ),
    Change("break a hard link", "cp file f; mv f file", before="echo x > file; ln file twin"),
    Change(
        "many small files",
        f"i=0; while [ $i -lt {MANY} ]; do echo $i > $i; i=$((i+1)); done",
        {str(number): "created" for number in range(MANY)},
    ),
    Change("sparse file", f"truncate -s {HUGE} huge", {"huge": "created"}),
    Change(
        "names that are no UTF-8",
        r"""echo 2 > "$(printf 'changed\377')"; rm "$(printf 'gone\377')"; echo 1 > "$(printf '\300\200')" """,
        {"changed\udcff": "modified", "gone\udcff": "deleted", "\udcc0\udc80": "created"},
        before=r"""for n in changed gone same; do echo 1 > "$(printf "$n\\377")"; done""",
    ),
    Change(
        "a folder that is no UTF-8",
        r"""cd "$(printf 'd\377')"; echo 1 > made""",
        {"d\udcff/made": "created"},
        before=r"""mkdir "$(printf 'd\377')" """,
    ),
    Change(
        "names with newlines",
        "echo 1 > 'a\nb'; rm 'c\n/d\n'",
        {"a\nb": "created", "c\n/d\n": "deleted"},
        before="mkdir 'c\n'; echo 1 > 'c\n/d\n'",
    ),
    Change(
        "file to folder",
        "rm thing; mkdir thing; echo x > thing/inner",
        {"thing": "modified", "thing/inner": "created"},
        before="echo x > thing",
    ),
    Change(
        "folder to file",
        "rm -r thing; echo x > thing",
        {"thing": "modified", "thing/inner": "deleted"},
        before="mkdir thing; echo x > thing/inner",
    ),
    Change(
        "folder to link",
        "mv d /tmp/moved; ln -s /tmp/moved d",
        {"d": "modified", "d/x": "deleted", "/tmp/moved": "created", "/tmp/moved/x": "created"},
        before="mkdir d; echo x > d/x",
    ),
    Change(
        "files that may not be read",
        "chmod 600 file; echo y > file; chmod 0 file",
        {"file": "modified"},
        before="echo x > file; chmod 0 file",
    ),
    Change(
        "in folders that may not be read",
        "chmod 700 d; echo y > d/x; chmod 0 d",
        {"d/x": "modified"},
        before="mkdir d; echo x > d/x; chmod 0 d",
    ),
    Change("fifo", "mkfifo f", {"f": "created"}),
    Change(
        "git branch deleted",
        "rm .git/refs/heads/topic",
        {".git/refs/heads/topic": "deleted"},
        before="mkdir -p .git/refs/heads; for n in main topic; do echo 0123 > .git/refs/heads/$n; done",
    ),
    Change(
        "stash dropped",
        "rm .git/refs/stash .git/logs/refs/stash",
        {".git/refs/stash": "deleted", ".git/logs/refs/stash": "deleted"},
        before="mkdir -p .git/refs .git/logs/refs; echo 0123 > .git/refs/stash; echo 1 > .git/logs/refs/stash",
    ),
    Change(
        "Python package installed",
        "mkdir -p site/nice-1.0.dist-info; echo x > site/nice-1.0.dist-info/RECORD; echo x > site/nice.py",
        {
            "site": "created",
            "site/nice-1.0.dist-info": "created",
            "site/nice-1.0.dist-info/RECORD": "created",
            "site/nice.py": "created",
        },
    ),
    Change(
        "Debian package installed",
        "printf 'Package: nice\\nStatus: install ok installed\\n\\n' >> /var/lib/dpkg/status",
        {"/var/lib/dpkg/status": "modified"},
        before="mkdir -p /var/lib/dpkg; touch /var/lib/dpkg/status",
    ),
    Change(
        "crontab line",
        "echo '* * * * * true' >> /var/spool/cron/crontabs/root",
        {"/var/spool/cron/crontabs/root": "modified"},
        before="mkdir -p /var/spool/cron/crontabs; echo > /var/spool/cron/crontabs/root",
    ),
    Change(
        "start-up files",
        "echo evil >> /root/.profile; echo evil >> /etc/profile",
        {"/root/.profile": "modified", "/etc/profile": "modified"},
        before="touch /root/.profile /etc/profile",
    ),
    Change("shared memory", "echo x > /dev/shm/made", {"/dev/shm/made": "created"}),
    Change(
        "tmpfs",
        f"echo y > '{DISK.path}/old'; echo x > '{DISK.path}/made'",
        {f"{DISK.path}/old": "modified", f"{DISK.path}/made": "created"},
        before=f"echo x > '{DISK.path}/old'",
    ),
    Change(
        "temporary files",
        "echo x > /tmp/t; echo x > /var/tmp/t",
        {"/tmp/t": "created", "/var/tmp/t": "created"},
    ),
)


def script(lines: Mapping[str, str]) -> str:
    """One shell line that runs each line in its folder."""
    return "\n".join(
        f"( mkdir -p '{folder}' && cd '{folder}' && {{ {line}\n}} ) || echo failed: '{folder}'"
        for folder, line in lines.items()
    )


def differences(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> dict[str, Difference]:
    """What two snapshots show, by path."""
    found: dict[str, Difference] = {}
    for path in before.keys() | after.keys():
        old, new = before.get(path), after.get(path)
        if old is None or new is None:
            found[path] = "created" if old is None else "deleted"
        elif (old.kind, old.sha256, old.target, old.size) != (new.kind, new.sha256, new.target, new.size):
            found[path] = "modified"
        elif (old.mode, old.owner) != (new.mode, new.owner):
            found[path] = "mode"
    return found
