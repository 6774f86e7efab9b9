"""Says why a machine finds nothing: it runs in a process of its own, and what it did not do is named."""
