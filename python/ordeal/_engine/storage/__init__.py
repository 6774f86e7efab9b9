"""Files that are read with distrust: traces, states, checked JSON."""
