"""Exploring in several processes: a supervisor that runs no code of the user's, and its workers."""
