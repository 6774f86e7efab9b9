"""Exploration in several processes: a supervisor, which runs no code of the user's, and its workers."""
