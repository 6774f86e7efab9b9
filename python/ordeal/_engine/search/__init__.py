"""One exploration: its runs, its checkpoints, what they teach, its saved state and its result."""
