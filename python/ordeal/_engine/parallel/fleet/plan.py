"""What a fleet is to do: where its members run, how many there are, and the task that each of them is given."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ordeal._native as _native
from ordeal._base.interpreter import usable_cpus
from ordeal.config.options import STORE_VARIABLE, ExplorationOptions, ExplorerConfig, Fleet
from ordeal.errors import ConfigError

#: The environment variables by which a member gets the store, whose address may hold a password, and its task.
TASK_VARIABLE = "ORDEAL_FLEET_TASK"
_LOCAL_STORE = ".ordeal/store"
#: What is never sent: what git, Python and ordeal keep for themselves.
LEFT_OUT = frozenset(
    (".git", ".ordeal", ".venv", "venv", ".tox", "__pycache__", ".hypothesis", ".mypy_cache", ".ruff_cache", "build")
)
#: Options of the search that do not go to members as they are.
_OWN = {"workers", "max_time", "max_runs", "steps_per_run", "patience"}
#: What is installed is to be installed where members run, too.
_NOT_SEARCHED = LEFT_OUT | {"site-packages", "dist-packages"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberTask:
    """What every member of a fleet receives. ``init`` and ``run`` are options of the Explorer that JSON can hold.

    ``seconds`` is the time of the fleet; its launcher's record says how much is left. ``members`` is how many there
    are, and ``alone`` whether no launcher waits for them. ``path`` are the folders where the project may be, and
    ``search`` those in it that modules are imported from.
    """

    fleet: str
    test_class: str
    seconds: float
    path: tuple[str, ...]
    search: tuple[str, ...] = ()
    init: dict[str, Any] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)
    ordeal: str = _native.__version__
    members: int = 1
    alone: bool = False
    python: str = field(default_factory=lambda: ".".join(platform.python_version_tuple()[:2]))

    def to_json(self) -> str:
        """Return the task as text."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> MemberTask:
        """Read what ``to_json`` returned."""
        found = json.loads(text)
        return cls(**{**found, "path": tuple(found["path"]), "search": tuple(found["search"])})

    def options(self, **changes: Any) -> ExplorationOptions:
        """Return the options of an exploration that does this task."""
        return ExplorationOptions().with_arguments(**{**self.init, **self.run, "max_time": self.seconds, **changes})

    def enter(self) -> None:
        """Change to the folder of the project, if it is here, and import its modules before all others."""
        folder = next((each for each in self.path if Path(each).is_dir()), None)
        if folder is not None:
            os.chdir(folder)
        here = Path.cwd()
        sys.path[:0] = [str(here), *(str(here / each) for each in self.search)]


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetPlan:
    """A fleet before it starts. ``store`` may hold a password, so it is never shown."""

    task: MemberTask
    on: str
    members: int
    store: str = field(repr=False)
    options: Fleet

    @property
    def kind(self) -> str:
        """``local``, ``ray``, ``dask``, ``slurm`` or ``kubernetes``."""
        return self.on.partition(":")[0]

    @property
    def on_batch(self) -> bool:
        """Whether a scheduler starts the members, which may wait in a queue, and starts lost ones again."""
        return self.kind in ("slurm", "kubernetes")


def make_plan(
    test_class: str, options: ExplorationOptions, *, environment: Mapping[str, str] = os.environ
) -> FleetPlan:
    """Return the plan of a fleet that explores a class.

    Raises:
        ConfigError: what is given does not fit together.
    """
    assert options.on is not None
    kind, _, rest = options.on.partition(":")
    members = options.member_count
    if not members:
        raise ConfigError("`local:0` has no members", hint="write for example `--on local:4`")
    if kind == "local" and rest and options.members not in (0, int(rest)):
        message = f"`--on {options.on}` and `--members {options.members}` contradict each other"
        raise ConfigError(message, hint="drop `--members`")
    for name, given in (("--save-state", options.save_state_to), ("--resume", options.resume_from)):
        if given is not None:
            message = f"`{name}` and `--on` contradict each other"
            raise ConfigError(message, hint=f"drop `{name}`: the store keeps what a fleet knows")
    if kind == "kubernetes" and not options.image:
        raise ConfigError(
            "`--on kubernetes` needs an image", hint="name one with your tests and ordeal: `--image registry/app:tag`"
        )
    workers = options.workers
    if kind == "local" and not workers:
        workers = max(1, usable_cpus() // members)
    init = {name: getattr(options, name) for name in sorted(ExplorerConfig.options.keys() - _OWN)}
    # The folders of the project, such as `src`, that modules are imported from here.
    project = Path.cwd() if options.project in ("auto", "none") else Path(options.project).absolute()
    entries = [entry for entry in map(Path, sys.path) if entry.is_absolute() and project in entry.parents]
    search = dict.fromkeys(entry.relative_to(project) for entry in entries)
    task = MemberTask(
        fleet=options.fleet_name or time.strftime("fleet-%Y%m%d-%H%M%S-") + str(os.getpid()),
        test_class=test_class,
        seconds=options.max_time,
        path=(str(Path.cwd()),),
        search=tuple(each.as_posix() for each in search if not _NOT_SEARCHED.intersection(each.parts)),
        members=members,
        init=init | {"workers": workers or int(kind != "slurm")},
        run={
            "steps_per_run": options.steps_per_run,
            "shrink": options.shrink,
            "max_shrink_time": options.max_shrink_time,
            "patience": options.patience,
            "max_runs": None if options.max_runs is None else -(-options.max_runs // members),
        },
    )
    store = options.store or environment.get(STORE_VARIABLE) or (f"dir://{_LOCAL_STORE}" if kind == "local" else "")
    if not store:
        raise ConfigError(
            f"`--on {kind}` needs a store where the members meet",
            hint=f"write `--store redis://HOST:6379/0`, or set {STORE_VARIABLE} if the address holds a password",
        )
    scheme, separator, path = store.partition("://")
    # Members may start in another folder.
    return FleetPlan(
        task=task,
        on=options.on,
        members=members,
        store=f"dir://{Path(path).expanduser().absolute()}" if scheme == "dir" and separator and path else store,
        options=options,
    )


def named_store(
    given: str | None, settings: str | None = None, *, environment: Mapping[str, str] = os.environ
) -> str | None:
    """Return the store to look at: the one that is named, otherwise that of this folder."""
    named = given or environment.get(STORE_VARIABLE) or settings
    return named or (f"dir://{_LOCAL_STORE}" if Path(_LOCAL_STORE).is_dir() else None)
