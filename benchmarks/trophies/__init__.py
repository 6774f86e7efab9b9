"""Bugs that ordeal found in libraries as they are released: a machine and a reproduction of each."""
