"""Writes a first machine for a package that has none: finds a class, tries its methods, writes the test, runs it."""
