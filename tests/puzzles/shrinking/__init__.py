"""Machines that fail, each with the smallest program that fails in the same way."""
