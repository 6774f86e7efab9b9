"""Machines of other projects' test suites: where they are, how they are fetched, and how each is run by two engines."""
