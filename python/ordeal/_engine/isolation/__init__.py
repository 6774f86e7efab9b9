"""Processes and limits that protect the supervisor from the code under test."""
