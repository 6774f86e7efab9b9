"""What Linux tells of running processes: of which each comes, and how much memory it holds."""

from dataclasses import dataclass
from pathlib import Path

KIB = 1024


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes that a process holds: all that is resident, and its share where pages belong to several."""

    rss: int
    pss: int


def descendants_of(ancestor: int) -> list[tuple[int, int]]:
    """The processes that come of ``ancestor`` and go on, oldest first, each after how many generations it came."""
    children: dict[int, list[tuple[int, int]]] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        # After the name, which may hold anything: the state, the parent, and as number 22 of all when it started.
        fields = _text(folder / "stat").rpartition(")")[2].split()
        if fields and fields[0] != "Z":
            children.setdefault(int(fields[1]), []).append((int(fields[19]), int(folder.name)))
    found: list[tuple[int, int, int]] = []
    generation, parents = 0, [ancestor]
    while parents:
        generation += 1
        born = [child for parent in parents for child in children.get(parent, [])]
        found += [(started, generation, process) for started, process in born]
        parents = [process for _, process in born]
    return [(generation, process) for _, generation, process in sorted(found)]


def memory_of(process: int) -> Memory | None:
    """What a process holds, or nothing when it is gone."""
    lines = _text(Path(f"/proc/{process}/smaps_rollup")).splitlines()
    sizes = {name: int(rest.split()[0]) * KIB for name, _, rest in (line.partition(":") for line in lines[1:])}
    return Memory(sizes["Rss"], sizes["Pss"]) if "Pss" in sizes else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
