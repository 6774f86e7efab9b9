"""The pinned libraries of the targets, each release in a folder of its own, and what they ask of an older Python."""

import collections
import collections.abc
import contextlib
import fractions
import importlib
import importlib.util
import inspect
import math
import os
import sys
import types
from pathlib import Path
from types import ModuleType

from harness.peers import folder_with

from bugs import synthetic
from bugs.catalog import Target

# Hypothesis draws constants that it finds in modules outside of such a folder, and these are no modules of a project.
PACKAGES = "site-packages"


def folder_of(target: Target, *, repaired: bool) -> Path:
    """The folder with the release of a real target, made at the first call.

    Raises:
        PeerError: it cannot be installed.
    """
    release = target.repaired if repaired else target.buggy
    name = f"bugs/{target.package}-{release}/{PACKAGES}"
    return folder_with(name, "--no-compile", *target.requirements(repaired=repaired))


def load(
    target: Target, *, repaired: bool, instrument: contextlib.AbstractContextManager[object] | None = None
) -> ModuleType:
    """Import the module of a target against its release with the bug, or without.

    An engine may hand over what has to be active while the library is imported.
    """
    restore_names()
    if repaired:
        synthetic.repair()
    taken: dict[str, ModuleType] = {}
    if target.is_real:
        folder = folder_of(target, repaired=repaired)
        taken = taken_out(folder)
        sys.path.insert(0, str(folder))
    with instrument or contextlib.nullcontext():
        for name in target.modules:
            importlib.import_module(name)
        module = importlib.import_module(f"bugs.targets.{target.name}")
    sys.modules.update(taken)  # What an engine imported before goes on with its own copy.
    return module


def taken_out(folder: Path) -> dict[str, ModuleType]:
    """Loaded modules whose place the folder's own modules take."""
    tops = {path.stem for path in folder.iterdir() if path.suffix not in {".dist-info", ".egg-info"}}
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in tops}


def restore_names() -> None:
    """Give old releases the names that Python has moved or dropped since."""
    for name in collections.abc.__all__:
        if not hasattr(collections, name):
            setattr(collections, name, getattr(collections.abc, name))
    if not hasattr(fractions, "gcd"):
        fractions.gcd = math.gcd  # type: ignore[attr-defined]  # That is the point.
    if not hasattr(inspect, "getargspec"):
        inspect.getargspec = lambda function: inspect.getfullargspec(function)[:4]  # type: ignore[attr-defined]
    if importlib.util.find_spec("pkg_resources") is None and "pkg_resources" not in sys.modules:
        sys.modules["pkg_resources"] = _package_resources()


def _package_resources() -> ModuleType:
    """The part of ``pkg_resources`` that libraries use to ask for their own version and plugins; it knows of none."""
    stand_in = types.ModuleType("pkg_resources")

    class DistributionNotFound(Exception):  # noqa: N818  The name that libraries catch.
        """No package of that name."""

    def get_distribution(name: str) -> object:
        raise DistributionNotFound(name)

    def declare_namespace(_name: str) -> None:
        return None

    def iter_entry_points(*_arguments: object, **_options: object) -> tuple[()]:
        return ()

    for member in (DistributionNotFound, get_distribution, declare_namespace, iter_entry_points):
        setattr(stand_in, member.__name__, member)
    return stand_in


def silence() -> None:
    """Send what libraries print to nowhere, and their warnings and the errors of half-made objects too."""
    sys.unraisablehook = lambda _unraisable: None
    sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  Open until the process ends.
