"""Calls the five rules and the invariants in a Python loop with ready arguments: what no engine in Python can beat."""

import argparse
import random

from five_rules.measured import measure
from five_rules.rules import FULL, FiveRules

Step = tuple[str, tuple[int, ...]]


def draw_run(steps: int, chance: random.Random) -> list[Step]:
    """A run that an engine might have chosen: every box exists, and the shelf is cleared when it is full only."""
    run: list[Step] = []
    placed = present = 0
    while len(run) < steps:
        name = chance.choice(("place", "reload", "look", "take", "clear"))
        if name == "place":
            placed, present = placed + 1, present + 1
            run.append((name, (chance.randint(1, 100),)))
        elif name == "clear":
            if present >= FULL:
                present = 0
                run.append((name, ()))
        elif placed:
            box = chance.randint(1, placed)
            run.append((name, (box, chance.randint(1, 100)) if name == "reload" else (box,)))
    return run


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    drawn = [draw_run(options.steps, chance) for _ in range(options.runs)]
    functions = {name: getattr(FiveRules, name) for name in ("place", "reload", "look", "take", "clear")}
    bound = [[(functions[name], arguments) for name, arguments in run] for run in drawn]

    def run() -> int:
        for steps in bound:
            machine = FiveRules()
            for function, arguments in steps:
                function(machine, *arguments)
                machine.boxes_were_placed()
                machine.heavy_boxes_are_boxes()
        return len(bound)

    measure(run, "bare loop")


if __name__ == "__main__":
    main()
