"""Machines with one deep bug behind three shallow ones."""
