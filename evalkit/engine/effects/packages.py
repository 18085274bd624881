"""Which packages were installed, removed or exchanged?

Known from what package managers keep: dpkg's status, and the `.dist-info` and `.egg-info` folders of Python packages.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from evalkit.engine.effects.change import RawChange
from evalkit.measures.globs import fits
from evalkit.sandbox.protocol import Entry

DPKG = "/var/lib/dpkg/status"
_PYTHON = re.compile(r"(?P<folder>.*)/(?P<name>[^/]+?)-(?P<version>[^/-]+)(?:-[^/]*)?\.(?:dist|egg)-info")


@dataclass(frozen=True, slots=True)
class Package:
    """One package, as it is installed."""

    manager: str
    name: str
    versions: tuple[str, ...]
    """More than one where it is installed in several places."""
    homes: tuple[str, ...]
    """Where that is written down."""

    @property
    def resource(self) -> str:
        """Such as `package:pip/requests`."""
        return f"package:{self.manager}/{self.name}"


@dataclass(frozen=True, slots=True)
class Packages:
    """All that are installed, by resource."""

    all: Mapping[str, Package] = field(default_factory=dict[str, Package])


def installed(entries: Mapping[str, Entry], dpkg_status: bytes) -> Packages:
    """What a snapshot and dpkg's status tell."""
    found: dict[str, Package] = {}
    for name, version in _dpkg(dpkg_status):
        one = Package("dpkg", name, (version,), (DPKG,))
        found[one.resource] = one
    python: dict[str, list[tuple[str, str]]] = {}
    for path in entries:
        if path.endswith((".dist-info", ".egg-info")) and (match := _PYTHON.fullmatch(path)):
            name = re.sub(r"[-_.]+", "-", match["name"]).lower()
            python.setdefault(name, []).append((match["version"], path))
    for name, places in python.items():
        versions, homes = zip(*sorted(places), strict=True)
        one = Package("pip", name, tuple(map(str, versions)), tuple(map(str, homes)))
        found[one.resource] = one
    return Packages(found)


def package_changes(before: Packages, after: Packages) -> Iterator[RawChange]:
    """Every package that is not installed as it was."""
    for resource in sorted(before.all.keys() | after.all.keys()):
        old, new = before.all.get(resource), after.all.get(resource)
        was, now = _versions(old), _versions(new)
        if was == now and _homes(old) == _homes(new):
            continue
        kind = "created" if old is None else "deleted" if new is None else "modified"
        homes = tuple(sorted(_homes(old) ^ _homes(new))) or tuple(_homes(new))
        yield RawChange("package", resource, kind, was, now, irreversible=False, places=homes)


def as_they_are(packages: Packages, patterns: Collection[str]) -> list[RawChange]:
    """Those packages that a declaration names, as they are now."""
    return [
        RawChange("package", resource, "modified", places=one.homes)
        for resource, one in packages.all.items()
        if fits(patterns, (resource,))
    ]


def _versions(package: Package | None) -> str | None:
    return None if package is None else ", ".join(package.versions)


def _homes(package: Package | None) -> frozenset[str]:
    return frozenset(package.homes if package else ())


def _dpkg(status: bytes) -> Iterator[tuple[str, str]]:
    for paragraph in status.decode("utf-8", "replace").split("\n\n"):
        fields: dict[str, str] = {}
        for line in paragraph.split("\n"):
            key, colon, value = line.partition(":")
            if colon and not line.startswith((" ", "\t")):
                fields[key] = value.strip()
        if fields.get("Status", "").endswith(" installed") and "Package" in fields:
            yield fields["Package"], fields.get("Version", "")
