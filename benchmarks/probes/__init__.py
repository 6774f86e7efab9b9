"""Programs with real libraries that run on the simulated network, and what they need."""
