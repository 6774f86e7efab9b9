"""Processes and limits that keep the code under test away from whoever supervises it."""
