"""Small machines with one planted bug each, and the budget it must fall in."""
