"""Turns a failing trace into plain Python: the calls into the code under test, without machine and ordeal."""
