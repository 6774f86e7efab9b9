"""Failures in other forms: pytest functions, Hypothesis' choices, its example database."""
