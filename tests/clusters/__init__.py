"""Fleets on real clusters of one machine, which tests start and end. They are for the night."""
