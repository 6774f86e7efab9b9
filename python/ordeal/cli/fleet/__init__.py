"""Commands of a fleet: what its members run, and ``ordeal fleet``."""
