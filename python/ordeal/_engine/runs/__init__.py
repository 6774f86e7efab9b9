"""The folder of a run: what `ordeal explore` writes while it searches, for whoever shows it."""
