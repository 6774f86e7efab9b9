"""Takes away what Linux alone has, in each interpreter with this folder on its path: make test-portable."""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import sys
from importlib.machinery import ExtensionFileLoader
from types import ModuleType
from typing import Any

#: The tests' own interpreter passes descriptors to others by these names.
_DESCRIPTOR = re.compile(r"/proc/\d+/fd/\d+")
_MISSING = (
    (os, ("memfd_create", "pidfd_open", "sched_getaffinity", "sched_setaffinity", "setns", "unshare")),
    (signal, ("pidfd_send_signal",)),
    (select, ("epoll",)),
    (socket, ("SO_PASSCRED",)),
)


def _no_proc(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("open", "os.listdir", "os.scandir"):
        path = arguments[0]
        path = os.fsdecode(path) if isinstance(path, bytes) else path
        if isinstance(path, str) and path.startswith("/proc") and not _DESCRIPTOR.fullmatch(path):
            raise FileNotFoundError(2, "there is no such file without Linux", path)


def _exec_module(loader: ExtensionFileLoader, module: ModuleType) -> None:
    _loaded(loader, module)
    if module.__name__ == "ordeal._native":
        module.die_with = module.keep_orphans = lambda *_arguments, **_named: False  # type: ignore[attr-defined]
        module.ORPHANED_SIGNAL = 0  # type: ignore[attr-defined]
        del module.start_first_process, module.end_first_process


for _module, _names in _MISSING:
    for _name in _names:
        if hasattr(_module, _name):
            delattr(_module, _name)
# It asks for what is gone; without that, it would never have been another function.
if hasattr(os, "process_cpu_count"):
    os.process_cpu_count = os.cpu_count  # type: ignore[assignment]
_loaded, ExtensionFileLoader.exec_module = ExtensionFileLoader.exec_module, _exec_module  # type: ignore[assignment, method-assign]
sys.addaudithook(_no_proc)
