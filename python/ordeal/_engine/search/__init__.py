"""One exploration: runs, checkpoints, what they teach, its saved state and its result."""
