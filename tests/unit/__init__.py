"""Tests of the Python package, one file per module."""
