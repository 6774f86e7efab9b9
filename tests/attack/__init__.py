"""Programs that attack the search: whatever they do, it goes on, and finds the ordinary bug beside them."""
