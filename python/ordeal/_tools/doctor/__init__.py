"""Says why a machine finds nothing: it runs in a separate process, and what it did not do is named."""
