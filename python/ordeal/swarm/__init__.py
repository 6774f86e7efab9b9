"""Swarm testing: each run leaves out some operations and weights the others (Groce et al., ISSTA 2012)."""

from __future__ import annotations

from ordeal.swarm.weights import OpWeights, SwarmError, op_weights, ops_of

__all__ = ["OpWeights", "SwarmError", "op_weights", "ops_of"]
