"""What the viewer shows of a failing trace, recorded in a replay of it."""
