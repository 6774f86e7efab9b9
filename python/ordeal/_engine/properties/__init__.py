"""Properties of a program: tallies, what a run showed of them, their history, and where they stand in the source."""
