"""``ordeal mutate``, and its words that concern one mutant."""
