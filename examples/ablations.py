"""Makes one mistake in a program at a time, and looks for a run that fails because of it.

usage: python ../ablations.py [RUNS], in a folder whose ablations.toml lists the mistakes
"""

import sys
import tomllib
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ordeal import simulate


class Ablations:
    """What can be left out of the program in a folder, by name: the text in it, and what stands in its place."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        table = tomllib.loads((folder / "ablations.toml").read_text("utf-8"))
        self.program, self.test, self.check = table["program"], table["test"], table["check"]
        self.left_out = {each["name"]: (each["old"], each["new"]) for each in table["left_out"]}

    @contextmanager
    def without(self, name: str | None) -> Iterator[types.ModuleType]:
        """Import the test of a program in which something is left out; nothing is for None."""
        text = self._text(self.program)
        if name is not None:
            old, new = self.left_out[name]
            assert text.count(old) == 1, name
            text = text.replace(old, new)
        before = sys.modules.get(self.program)
        sys.modules[self.program] = self._module(self.program, text)
        try:
            yield self._module(self.test, self._text(self.test))
        finally:
            del sys.modules[self.program]
            if before is not None:
                sys.modules[self.program] = before

    def search(self, name: str | None, runs: int, seed: int = 0) -> simulate.Report:
        """Look for a failing run of the program in which something is left out."""
        with self.without(name) as test:
            return simulate.explore(getattr(test, self.check), faults=test.FAULTS, runs=runs, seed=seed, check=False)

    def _text(self, module: str) -> str:
        return (self.folder / f"{module}.py").read_text("utf-8")

    def _module(self, name: str, text: str) -> types.ModuleType:
        module = types.ModuleType(name)
        exec(compile(text, str(self.folder / f"{name}.py"), "exec"), vars(module))
        return module


def first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def main() -> None:
    ablations = Ablations(Path.cwd())
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for name in (*ablations.left_out, None):
        failure = ablations.search(name, runs).failure
        found = f"nothing in {runs} runs" if failure is None else f"run {failure.run}: {first_line(failure.error)}"
        print(f"{name or 'no mistake':60} {found}")


if __name__ == "__main__":
    main()
