"""The commands of the guide of many machines, run as they stand there, on clusters of this machine."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.clusters import engines, guide, project
from tests.clusters.watched import ORDEAL, Fleet
from tests.unit.samples.stores import running_server

pytestmark = pytest.mark.nightly
SECONDS = "8"


def of_place(place: str) -> list[list[str]]:
    return [words for words in guide.commands() if "--on" in words and words[words.index("--on") + 1].startswith(place)]


def shortened(words: list[str], address: str, members: str) -> list[str]:
    """Return a command with what is here for what is there: another address, and a fleet that ends soon."""
    given = list(words)
    for option, value in (("--on", address), ("--members", members), ("--max-time", SECONDS)):
        if option in given:
            given[given.index(option) + 1] = value
        elif option == "--max-time":
            given += [option, value]
    if "--store" in given:
        del given[given.index("--store") : given.index("--store") + 2]
    return given


@pytest.mark.parametrize("place", ["local", "dask", "ray"])
def test_a_fleet_as_in_the_guide_finds_the_bug_and_tells_of_it(place: str, tmp_path: Path) -> None:
    if place != "local" and not engines.has(place):
        pytest.skip(f"needs ordeal[{place}]: `make test-clusters` has it")
    (tmp_path / "redis").mkdir()
    with running_server(tmp_path / "redis") as server, TemporaryDirectory(prefix="oc") as folder:
        fleet = Fleet(project.write(tmp_path / "project"), server.url, tmp_path / "state")

        def call(words: list[str]) -> tuple[int, str]:
            done = subprocess.run(
                [*ORDEAL, *words], cwd=fleet.folder, env=fleet.environment, capture_output=True, text=True, check=False
            )
            return done.returncode, done.stdout + done.stderr

        def explore(address: str) -> None:
            for words in of_place(place):
                code, said = call(shortened(words, address, "2"))
                assert code == 1, said
                assert "fleet of 2 members" in said
                assert "AssertionError (4 steps)" in said

        if place == "local":
            explore("local:2")
        else:
            with engines.running(place, Path(folder) / "c") as cluster:
                explore(cluster.address)
        assert "ended" in call(["fleet", "status"])[1]
        code, said = call(["seeds", "pull"])
        assert code == 1
        assert "1 known" in said
