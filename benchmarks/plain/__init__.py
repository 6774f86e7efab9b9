"""Measures how many failures have a plain reproduction: a program without ordeal and without the machine."""
