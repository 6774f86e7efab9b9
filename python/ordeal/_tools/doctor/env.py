"""Describes the environment: versions, what the system allows, what a simulation refuses, the switches that are set."""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, entry_points, version

import msgspec

from ordeal._base.interpreter import usable_cpus
from ordeal._base.live_threads import has_gil
from ordeal._base.monitoring_tools import ORDER, free_tools
from ordeal._base.trace_file import versions_now
from ordeal._hypothesis.private import missing
from ordeal.seed import VARIABLES

#: Packages that ordeal works with where they are there, or that change what it can do.
_PACKAGES = ("coverage", "dask", "greenlet", "junitparser", "numpy", "pandas", "pytest", "ray", "redis", "sqlalchemy")
_SWITCHES = (
    *(*VARIABLES, "ORDEAL_RECORD", "ORDEAL_STORE", "PYTHONHASHSEED", "PYTHON_GIL"),
    *("NO_COLOR", "FORCE_COLOR", "GITHUB_ACTIONS"),
)
#: A simulated program that uses one of these gets an error that says what to use instead.
_REFUSED = ("threads", "processes", "real sockets", "signals and alarms", "waits of the system", "pipes and devices")


class Environment(msgspec.Struct, frozen=True):
    """All that ``ordeal env`` says. ``works`` has a reason in place of yes where something does not work.

    Attributes:
        switches: the environment variables that are set and that ordeal reads. Of ``ORDEAL_STORE`` the value is left
            out, as it may hold a password.
    """

    versions: dict[str, str]
    system: dict[str, str]
    works: dict[str, str]
    refused_in_simulations: tuple[str, ...]
    packages: dict[str, str]
    pytest_plugins: tuple[str, ...]
    switches: dict[str, str]


def environment() -> Environment:
    """Return the environment of this process."""
    importlib.import_module("ordeal.explore")  # asks Hypothesis for all that a search uses
    holders = sorted({str(sys.monitoring.get_tool(each)) for each in ORDER} - {"None"})
    taken = f"no: taken by {', '.join(holders)}"
    lost = sorted({place.partition(":")[2] for place in missing})
    return Environment(
        versions=versions_now(),
        system={
            "platform": platform.platform(),
            "interpreter": f"{platform.python_implementation()} {platform.python_version()}",
            "gil": "on" if has_gil() else "off",
            "cores": str(usable_cpus()),
        },
        works={
            "coverage": "yes" if free_tools() else taken,
            "processes of their own": "yes" if hasattr(os, "fork") else "no: this system has no fork",
            "memory limits": "yes" if importlib.util.find_spec("resource") else "no: this system has none",
            "mutants in namespaces": "yes, where the system allows it"
            if hasattr(os, "unshare")
            else "no: copies of files",
            "inside of Hypothesis": f"no: it lacks {', '.join(lost)}, so that runs may be slower" if lost else "yes",
        },
        refused_in_simulations=_REFUSED,
        packages={name: found for name in _PACKAGES if (found := _version(name))},
        pytest_plugins=pytest_plugins(),
        switches={
            name: "set" if name == "ORDEAL_STORE" else os.environ[name] for name in _SWITCHES if name in os.environ
        },
    )


def pytest_plugins() -> tuple[str, ...]:
    """Return the packages whose plugins pytest loads, besides ordeal and Hypothesis."""
    names = {each.dist.name for each in entry_points(group="pytest11") if each.dist is not None}
    return tuple(sorted(names - {"ordeal", "hypothesis"}))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
