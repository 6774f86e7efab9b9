"""Mutants of libraries as they are released today, the sound machines that judge them, and the cells that hunt them."""
