"""Properties of a program: tallies, observations of runs, history, and call sites in the source."""
