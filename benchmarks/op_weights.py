"""Op weights: whether the same seed gives the same operations everywhere, what a pick costs, what it finds."""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import timeit
from collections import Counter

from ordeal.swarm import OpWeights, op_weights

OPS = ("enqueue", "ping", "peek", "resize", "drain")
CAPACITY = 64
STEPS = 10_000
PICKS = 1_000_000
#: The value that chi-squared with four degrees of freedom exceeds once in a thousand.
CHI_SQUARED_LIMIT = 18.467


def digest_of_picks(seed: int, count: int = PICKS) -> str:
    """The SHA-256 of the first ``count`` operations of a test, a line each."""
    rng = random.Random(seed)
    weights = op_weights(rng, OPS, always_on=OPS)
    sequence = "\n".join(weights.pick(rng) for _ in range(count))
    return hashlib.sha256(sequence.encode()).hexdigest()


def chi_squared(seed: int, count: int = PICKS) -> float:
    """How far the picks are from their weights."""
    rng = random.Random(seed)
    weights = op_weights(rng, OPS, always_on=OPS)
    counts = Counter(weights.pick(rng) for _ in range(count))
    total = sum(weights.weights.values())
    means = {name: count * weight / total for name, weight in weights.entries}
    return sum((counts[name] - mean) ** 2 / mean for name, mean in means.items())


def fills(weights: OpWeights, rng: random.Random) -> bool:
    """Whether a test of a queue ever has somebody wait for room: the bug is in what happens then."""
    held = 0
    for _ in range(STEPS):
        match weights.pick(rng):
            case "enqueue":
                if held == CAPACITY:
                    return True
                held += 1
            case "drain":
                held = 0
            case _:
                pass
    return False


def tests_until_full(seed: int, tests_max: int, *, swarm: bool) -> int | None:
    """How many tests it takes until the queue is full, None when ``tests_max`` do not get there."""
    rng = random.Random(seed)
    for test in range(1, tests_max + 1):
        weights = op_weights(rng, OPS) if swarm else OpWeights(tuple((op, 1) for op in OPS))
        if fills(weights, rng):
            return test
    return None


def nanoseconds_per_pick(rounds: int = 9, number: int = 200_000) -> list[float]:
    """What a call of ``pick`` costs, by round, fastest first."""
    rng = random.Random(1)
    weights = op_weights(rng, OPS, always_on=OPS)
    times = timeit.repeat("pick(rng)", globals={"pick": weights.pick, "rng": rng}, number=number, repeat=rounds)
    return sorted(time / number * 1e9 for time in times)


def main() -> None:
    """Print one line for each number."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="searches for the queue's bug (default: 20)")
    seeds = range(1, parser.parse_args().seeds + 1)
    print(f"Python {sys.version.split()[0]}")
    print(f"{PICKS} operations of seed 1: sha256 {digest_of_picks(1)}")
    print(f"chi-squared of them: {chi_squared(1):.2f} (p > 0.001 below {CHI_SQUARED_LIMIT})")
    times = nanoseconds_per_pick()
    print(f"a pick: {times[0]:.0f} / {times[len(times) // 2]:.0f} / {times[-1]:.0f} ns (min / median / max)")
    found = [tests_until_full(seed, 100, swarm=True) for seed in seeds]
    print(f"full queue with swarm weights, in test number: {found}")
    even = [tests_until_full(seed, 30, swarm=False) for seed in seeds[:5]]
    print(f"full queue with equal weights, in 30 tests: {even}")


if __name__ == "__main__":
    main()
