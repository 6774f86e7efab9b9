"""Results of cells: kept as lines of JSON, so that a suite goes on where it was stopped, and made into tables."""

import json
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.report import table

from bugs.catalog import TARGETS, TIERS

OWN = "ordeal"
RIVALS = ("Hypothesis", "Hegel", "public ordeal")
# A finding in less is as good as none: clocks and start-up decide there.
FINEST_S = 0.001


@dataclass(frozen=True, slots=True)
class Result:
    """How one cell ended. Times are of the finding, or of the whole search when nothing was found.

    Attributes:
        limit_s: processor time after which the search ended.
        cpu_s: processor time.
        calls: rule calls and toggled faults.
        machines: machines made.
        false_failures: failures that did not happen again on a fresh machine.
        length: calls and toggled faults of the failing run, as found.
        note: the failure, or what went wrong.
    """

    engine: str
    target: str
    rng_seed: int
    limit_s: float
    repaired: bool
    found: bool
    cpu_s: float = 0.0
    wall_s: float = 0.0
    machines: int = 0
    calls: int = 0
    false_failures: int = 0
    length: int = 0
    broken: bool = False
    note: str = ""

    @property
    def key(self) -> tuple[str, str, int, float, bool]:
        """What says which cell it is."""
        return (self.engine, self.target, self.rng_seed, self.limit_s, self.repaired)

    @property
    def censored_s(self) -> float:
        """The time to the finding, the limit where there is none."""
        return max(self.cpu_s, FINEST_S) if self.found else self.limit_s


def read(path: Path) -> list[Result]:
    """The results in a file, none where there is no file."""
    if not path.exists():
        return []
    return [Result(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def append(path: Path, result: Result) -> None:
    """Add one result to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(asdict(result))}\n")


def cells_of(results: Iterable[Result], engine: str, target: str) -> list[Result]:
    """The results of one engine on one target."""
    return [each for each in results if each.engine == engine and each.target == target]


def median_s(cells: Sequence[Result]) -> float:
    """The median time; a search without a finding counts as its limit."""
    return statistics.median(each.censored_s for each in cells)


def geometric_mean(ratios: Sequence[float]) -> float:
    """The mean for ratios: twice as fast once and half as fast once is one."""
    return math.exp(statistics.fmean(math.log(each) for each in ratios))


def told(cells: Sequence[Result]) -> str:
    """``found of all · median (slowest)`` of one engine on one target."""
    if not cells:
        return "-"
    found = [each.cpu_s for each in cells if each.found]
    count = f"{len(found)} of {len(cells)}"
    if not found:
        return f"{count} · > {cells[0].limit_s:g}"
    median = median_s(cells)
    middle = f"> {cells[0].limit_s:g}" if median >= cells[0].limit_s else f"{median:.3g}"
    return f"{count} · {middle} ({max(found):.3g})"


def ratio(results: Sequence[Result], target: str) -> float | None:
    """How many times sooner than the best rival; None where nobody found anything, or one did not run."""
    own = cells_of(results, OWN, target)
    rivals = [cells for rival in RIVALS if (cells := cells_of(results, rival, target))]
    if not own or not rivals or not any(each.found for each in [*own, *(cell for cells in rivals for cell in cells)]):
        return None
    return min(median_s(cells) for cells in rivals) / median_s(own)


def losses(results: Sequence[Result], engines: Sequence[str]) -> list[str]:
    """A line for each target on which any engine did better: found it more often, or sooner by the median."""
    lines = []
    for target in TARGETS:
        own = cells_of(results, OWN, target.name)
        for engine in engines:
            others = cells_of(results, engine, target.name)
            if engine == OWN or not own or not others or not any(each.found for each in others):
                continue
            own_share = sum(each.found for each in own) / len(own)
            share = sum(each.found for each in others) / len(others)
            if share > own_share or median_s(others) < median_s(own):
                lines.append(f"- {target.name}: {engine} {told(others)}; {OWN} {told(own)}")
    return lines


def found_table(results: Sequence[Result], engines: Sequence[str]) -> str:
    """A row for each target, the easy ones first."""
    ran = {each.target for each in results}
    rows = []
    for target in sorted((each for each in TARGETS if each.name in ran), key=lambda each: TIERS.index(each.tier)):
        times = ratio(results, target.name)
        cells = [told(cells_of(results, engine, target.name)) for engine in engines]
        rows.append([target.name, target.tier, *cells, "-" if times is None else f"{times:.3g}"])
    return table(["target", "tier", *engines, "times the best of Hypothesis, Hegel and public ordeal"], rows)


def summary(results: Sequence[Result], engines: Sequence[str]) -> str:
    """The numbers over all targets, and the losses."""
    ran = [target.name for target in TARGETS if any(each.target == target.name for each in results)]
    ratios = [times for name in ran if (times := ratio(results, name)) is not None]
    lines = []
    if ratios:
        lines.append(
            f"- Geometric mean of the last column, over {len(ratios)} targets: {geometric_mean(ratios):.3g} "
            f"(worst {min(ratios):.3g}). A search that found nothing counts as its limit."
        )
    for engine in engines:
        cells = [each for each in results if each.engine == engine]
        steady = [each.calls / each.cpu_s for each in cells if not each.found and each.cpu_s > 0 and not each.broken]
        reliable = sum(_share(cells_of(cells, engine, name)) >= 0.9 for name in ran)
        lines.append(
            f"- {engine}: {sum(each.found for each in cells)} of {len(cells)} cells found, {reliable} of {len(ran)} "
            f"targets with at least nine seeds of ten; {sum(each.false_failures for each in cells)} false failures; "
            f"{sum(each.broken for each in cells)} cells broken"
            + (f"; {statistics.median(steady):,.0f} calls per CPU second where nothing was found." if steady else ".")
        )
    worse = losses(results, engines)
    lines += ["", "Losses, the median of another engine being better:" if worse else "No losses.", "", *worse]
    return "\n".join(lines)


def _share(cells: Sequence[Result]) -> float:
    return sum(each.found for each in cells) / len(cells) if cells else 0.0
