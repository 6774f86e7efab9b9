"""Shrinks one failing run with ordeal and with Hypothesis: one module for each, and the machines."""
