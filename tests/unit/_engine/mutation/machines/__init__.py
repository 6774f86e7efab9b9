"""Tests of the machines that judge."""
