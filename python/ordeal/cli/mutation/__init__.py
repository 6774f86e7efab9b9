"""The commands behind ``ordeal mutate`` that concern one mutant."""
