"""Counts what a machine makes its program do: figures that are equal in every run, and how they grow with the input."""
