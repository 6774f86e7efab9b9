"""The options of a fleet: where its members run and meet, how many there are, and how the project gets there."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, get_args

from ordeal.config.checks import Check, integer, one_of, text
from ordeal.config.option import SAME, Flag, Option

OnInterrupt = Literal["stop", "leave"]
#: More members than this need relays.
MEMBERS_MAX = 100_000
_LAUNCHERS = re.compile(r"local(:[0-9]{1,4})?|(ray|dask)://[^\s]+|slurm|kubernetes", re.ASCII)
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", re.ASCII)


def _on(value: object) -> str | None:
    return value if isinstance(value, str) and _LAUNCHERS.fullmatch(value) else None


def _name(value: object) -> str | None:
    return value if isinstance(value, str) and _NAME.fullmatch(value) else None


def _job_options(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    given = tuple(each for each in value if isinstance(each, str) and re.fullmatch(r"[\w.-]+(=[^\n\0]*)?", each))
    return given if len(given) == len(value) else None


ON = Check(
    "`local:N`, `ray://HOST:PORT`, `dask://HOST:PORT`, `slurm` or `kubernetes`", "local:4", "where members run", _on
)
FLEET_NAME = Check(
    "a name of at most 40 lower-case letters, digits and hyphens", "nightly", "lower-case letters, digits, `-`", _name
)
JOB_OPTIONS = Check('a list of "NAME=VALUE"', ["time=02:00:00"], 'list of `"NAME=VALUE"`', _job_options)


@dataclass(frozen=True, kw_only=True)
class FleetConfig:
    """The section ``[fleet]``. ``on`` is None to explore on this machine alone, ``members`` 0 for one, or local's N.

    ``fleet_name`` is None for one that is made from the time.
    """

    on: str | None = field(
        default=None,
        metadata=Option(
            ON,
            "here",
            init=SAME,
            flag=Flag("--on", "WHERE", "Start members: local:N, ray://HOST:PORT, dask://HOST:PORT, slurm, kubernetes"),
        ).metadata,
    )
    members: int = field(
        default=0,
        metadata=Option(
            integer(0, MEMBERS_MAX, expected="a whole number from 0 (by `--on`) to 100000", example=8),
            init=SAME,
            flag=Flag("--members", "N", "How many members", "1, or N of local:N"),
        ).metadata,
    )
    image: str | None = field(
        default=None,
        metadata=Option(
            text("the name of an image", "registry.example.org/myapp-tests:latest", "text"),
            "none",
            init=SAME,
            flag=Flag("--image", "NAME", "Container image of the members on Kubernetes"),
        ).metadata,
    )
    job_options: tuple[str, ...] = field(
        default=(),
        metadata=Option(
            JOB_OPTIONS,
            "none",
            init=None,
            flag=Flag(
                "--job-option", "NAME=VALUE", "Option of the job of Slurm or Kubernetes; repeatable", repeats=True
            ),
        ).metadata,
    )
    on_interrupt: OnInterrupt = field(
        default="stop",
        metadata=Option(
            one_of(*get_args(OnInterrupt), example="stop"),
            init=SAME,
            flag=Flag("--on-interrupt", "WHAT", "What Ctrl-C does to the members: stop or leave"),
        ).metadata,
    )
    project: str = field(
        default="auto",
        metadata=Option(
            text('"auto", "none" or a folder', "auto", '`"auto"`, `"none"` or a folder'),
            init=SAME,
            flag=Flag("--project", "WHAT", "What is sent to the members of Ray: auto (this folder), none, or a folder"),
        ).metadata,
    )
    store: str | None = field(
        default=None,
        metadata=Option(
            text("an address", "dir:///srv/ordeal", "address"),
            "none",
            init=SAME,
            flag=Flag("--store", "URL", "Share discoveries with other machines (dir://PATH, redis://HOST/DB)"),
        ).metadata,
    )
    fleet_name: str | None = field(
        default=None,
        metadata=Option(
            FLEET_NAME,
            "by the time",
            init=SAME,
            flag=Flag("--fleet-name", "NAME", "Name for `ordeal fleet status`"),
        ).metadata,
    )

    @property
    def member_count(self) -> int:
        """How many members these options ask for; 0 for ``local:0``, which has none."""
        kind, _, rest = (self.on or "").partition(":")
        return self.members or (int(rest) if kind == "local" and rest else 1)
