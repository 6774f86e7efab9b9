"""Results of the hunt: kept as lines of JSON, so that it goes on where it was stopped, and made into tables."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bugs.results import FINEST_S, OWN, geometric_mean
from harness.report import table


@dataclass(frozen=True, slots=True)
class Hunted:
    """How one cell ended. The time is that to the kill, or of the whole search where there is none."""

    library: str
    mutant: str
    change: str
    engine: str
    rng_seed: int
    limit_s: float
    killed: bool
    cpu_s: float
    broken: bool = False
    false_failures: int = 0
    note: str = ""

    @property
    def key(self) -> tuple[str, str, str, int, float]:
        """What says which cell it is."""
        return (self.library, self.mutant, self.engine, self.rng_seed, self.limit_s)

    @property
    def censored_s(self) -> float:
        """The time to the kill, the limit where there is none."""
        return max(self.cpu_s, FINEST_S) if self.killed else self.limit_s


def read(path: Path) -> list[Hunted]:
    """The results in a file, none where there is no file."""
    if not path.exists():
        return []
    return [Hunted(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def append(path: Path, result: Hunted) -> None:
    """Add one result to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(asdict(result))}\n")


Cells = dict[str, Hunted]


def by_mutant(results: Sequence[Hunted]) -> dict[tuple[str, str], Cells]:
    """The cells of each mutant, by engine."""
    mutants: dict[tuple[str, str], Cells] = defaultdict(dict)
    for result in results:
        mutants[result.library, result.mutant][result.engine] = result
    return dict(mutants)


def sooner(cells: Cells) -> float | None:
    """How many times sooner ours killed it than the best other; None where nobody did, or ours has no rival."""
    own, others = cells.get(OWN), [cell for engine, cell in cells.items() if engine != OWN]
    if own is None or not others or not any(cell.killed for cell in cells.values()):
        return None
    return min(cell.censored_s for cell in others) / own.censored_s


def hunt_table(results: Sequence[Hunted], engines: Sequence[str]) -> str:
    """A row for each library."""
    rows = []
    mutants = by_mutant(results)
    for library in dict.fromkeys(result.library for result in results):
        of_library = [cells for (name, _), cells in mutants.items() if name == library]
        ratios = [ratio for cells in of_library if (ratio := sooner(cells)) is not None]
        kills = [str(sum(cells[engine].killed for cells in of_library if engine in cells)) for engine in engines]
        rows.append([library, str(len(of_library)), *kills, f"{geometric_mean(ratios):.3g}" if ratios else "-"])
    return table(["library", "mutants", *engines, "times sooner than the best other"], rows)


def hard(results: Sequence[Hunted], long: Sequence[Hunted], short_s: float, long_s: float) -> str:
    """Of the mutants that no other engine kills in its time and some longer search does, how many ours kills in its.

    ``long`` are the longer searches for what none has killed: what ours kills in its time, it kills in a longer one.
    """
    mutants = by_mutant(results)
    left = {
        key: cells
        for key, cells in mutants.items()
        if not any(cell.killed for engine, cell in cells.items() if engine != OWN)
    }
    ours = sum(OWN in cells and cells[OWN].killed for cells in left.values())
    later = [cell for cell in long if cell.killed]
    killed = ours + len({(cell.library, cell.mutant) for cell in later})
    share = f" ({ours / killed:.0%}, goal 50 %)".replace("%,", " %,") if killed else ""
    by_none = f"No other engine kills {len(left)} of {len(mutants)} mutants in {short_s:g} s."
    by_long = f"Some search of {long_s:g} s kills {killed} of these, ordeal {ours} in its {short_s:g} s{share}."
    lines = [f"{by_none} {by_long}", *([""] if later else [])]
    lines += [f"- {cell.library}: {cell.change}: {cell.engine} {cell.cpu_s:.2g} s" for cell in later]
    return "\n".join(lines)


def summary(results: Sequence[Hunted], engines: Sequence[str]) -> str:
    """The numbers over all libraries, and each mutant that another engine killed and ours did not."""
    mutants = by_mutant(results)
    killed = {key: cells for key, cells in mutants.items() if any(cell.killed for cell in cells.values())}
    lines = [f"- {len(killed)} of {len(mutants)} mutants are killed by any engine."]
    for engine in engines:
        own = [key for key, cells in killed.items() if engine in cells and cells[engine].killed]
        alone = [key for key in own if sum(cell.killed for cell in killed[key].values()) == 1]
        cells_of = [result for result in results if result.engine == engine]
        lines.append(
            f"- {engine}: {len(own)} of {len(killed)}, {len(alone)} that no other kills; "
            f"{sum(cell.false_failures for cell in cells_of)} false failures, "
            f"{sum(cell.broken for cell in cells_of)} broken cells."
        )
    ratios = [ratio for cells in killed.values() if (ratio := sooner(cells)) is not None]
    if ratios:
        slower = sum(ratio < 1 for ratio in ratios)
        lines.append(
            f"- Geometric mean of the time of the best other over ours: {geometric_mean(ratios):.3g}; "
            f"ours is slower on {slower} of {len(ratios)}. A search without a kill counts as its limit."
        )
    lost = [cells for cells in killed.values() if OWN in cells and not cells[OWN].killed]
    lines += ["", "Lost, killed by another engine and not by ours:" if lost else "None is lost.", ""]
    for cells in lost:
        others = ", ".join(f"{engine} {cell.cpu_s:.2g} s" for engine, cell in cells.items() if cell.killed)
        lines.append(f"- {cells[OWN].library}: {cells[OWN].change}: {others} {cells[OWN].note}".rstrip())
    return "\n".join(lines)
