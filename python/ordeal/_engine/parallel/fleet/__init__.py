"""Starts the members of a search on machines that others run, watches them, and brings their findings home."""
