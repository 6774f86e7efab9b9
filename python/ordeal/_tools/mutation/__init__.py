"""Mutants of a source file, and the verdict of a test suite on each."""
