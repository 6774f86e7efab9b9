"""Replays of tapes and traces: confirm, shrink, ablate, and load what was saved."""
