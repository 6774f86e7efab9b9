"""What drives the machines: a module for each engine, whose ``search`` ends at its first finding or at the limit."""
