"""Which refs has a call moved, where the files that hold them show more, or less, than that?

Refs are files of their own or lines of `packed-refs`. Packing moves all of them and changes none, and removing one
writes all the others again; so that file is read after each call that wrote it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from evalkit.engine.effects.git_state import packed_refs

MAX_BYTES = 4 * 1024 * 1024
"""Of a file of packed refs that is read after a call."""
_FILE = "/packed-refs"


def packed_name(folder: str, ref: str) -> str:
    """What stands for a packed ref among the paths that a call has touched."""
    return f"{folder}{_FILE}:{ref}"


def packed_files(paths: Collection[str]) -> list[str]:
    """Those of the paths that hold packed refs."""
    return sorted(path for path in paths if path.endswith(_FILE))


class RefTracker:
    """Knows what is packed, and of loose refs what they were as long as nobody has touched them."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._packed: dict[str, Mapping[str, str] | None] = {
            path: packed_refs(contents[path]) for path in packed_files(contents.keys())
        }
        self._loose = {path: content.strip() for path, content in contents.items() if "/refs/" in path}

    def refined(
        self,
        touched: Collection[str],
        before: Collection[str],
        now: Collection[str],
        packed: Mapping[str, bytes | None],
    ) -> frozenset[str]:
        """The touched paths without refs that were only packed, and with those that were changed where they are packed.

        `before` and `now` are all paths; `packed` are the contents of the touched files of packed refs, None where one
        could not be read.
        """
        refined = set(touched)
        for path, content in packed.items():
            folder = path.removesuffix(_FILE)
            old, new = self._packed.get(path, {}), None if content is None else packed_refs(content)
            self._packed[path] = new
            for ref, commit in (new or {}).items():
                loose = f"{folder}/{ref}"
                was_moved_in = loose in before and loose not in now
                if was_moved_in and self._loose.get(loose, commit.encode()) == commit.encode():
                    refined.discard(loose)
            if old is None or new is None:
                continue
            for ref in old.keys() | new.keys():
                loose = f"{folder}/{ref}"
                if old.get(ref) != new.get(ref) and loose not in before and loose not in now:
                    refined.add(packed_name(folder, ref))
        for path in touched:
            self._loose.pop(path, None)
        return frozenset(refined)
