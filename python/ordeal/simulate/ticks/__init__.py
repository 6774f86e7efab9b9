"""Machines around a program that moves in ticks: its clock and disk, its commands, and what a restore owes."""
