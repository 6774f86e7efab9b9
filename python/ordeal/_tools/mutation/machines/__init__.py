"""Judges mutants by the machines of a project: their recorded runs, replayed on the broken program."""
