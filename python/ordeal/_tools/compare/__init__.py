"""Runs one machine on two versions of a program, and says in which step they first do something else."""
