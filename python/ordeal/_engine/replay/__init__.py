"""Replays of tapes and traces: confirming, shrinking and ablating failures, and loading what was saved."""
