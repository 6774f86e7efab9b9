"""Worlds of nodes: machines of one simulated run, each with tasks, a clock and a disk of its own, on a network."""
