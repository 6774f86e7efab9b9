"""What is done with a saved failure: replayed, shown, and followed back to the commit that brought it."""
