"""Worlds of nodes: machines of one simulated run, each with tasks, a clock and its own disk, on a network."""
