"""Who waits for whom in a simulated run, who has what they wait for, and whether anybody can still bring it about."""
