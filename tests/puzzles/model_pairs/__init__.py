"""Four systems with a model of each, and the bugs that are planted in them."""
