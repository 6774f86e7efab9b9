"""Files that are read without trust: traces, states, checked JSON."""
