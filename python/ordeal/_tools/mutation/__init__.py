"""Mutants of a source file, and what a test suite says of each."""
