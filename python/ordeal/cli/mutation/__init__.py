"""``ordeal mutate`` and ``ordeal chimp``: judging mutants, and what can be done with single ones."""
