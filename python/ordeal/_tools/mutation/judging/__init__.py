"""The processes that judge mutants by a pytest suite: they import the program, and never print."""
