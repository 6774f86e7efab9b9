"""The program that benchmarks/monitor_overhead.py traces: tight loops, branches, calls, nothing that waits."""


def primes(limit: int) -> int:
    sieve = bytearray(b"\x01") * limit
    count = 0
    for number in range(2, limit):
        if sieve[number]:
            count += 1
            for multiple in range(number * number, limit, number):
                sieve[multiple] = 0
    return count


def collatz(start: int) -> int:
    steps = 0
    while start != 1:
        if start % 2:
            start = 3 * start + 1
        else:
            start //= 2
        steps += 1
    return steps


def classify(text: str) -> dict[str, int]:
    kinds = {"letter": 0, "digit": 0, "space": 0, "other": 0}
    for character in text:
        if character.isalpha():
            kinds["letter"] += 1
        elif character.isdigit():
            kinds["digit"] += 1
        elif character == " ":
            kinds["space"] += 1
        else:
            kinds["other"] += 1
    return kinds


def step(value: int) -> int:
    if value > 100:
        return value - 99
    return value + 7


def walk(steps: int) -> int:
    value = 0
    for _ in range(steps):
        value = step(value)
    return value


def run() -> int:
    total = primes(30_000)
    total += sum(collatz(start) for start in range(1, 700))
    total += classify("a1 -" * 5_000)["other"]
    return total + walk(30_000)
