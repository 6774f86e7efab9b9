"""Turns scores into shares that add up to one, as the last layer of a classifier does."""

import math


def softmax(scores: list[float]) -> list[float]:
    """The share of each score."""
    # Planted: the largest score is not taken off first, so large ones overflow and small ones all become zero.
    powers = [math.exp(score) if score < 700 else math.inf for score in scores]
    total = sum(powers)
    return [power / total if total else 0.0 for power in powers]
