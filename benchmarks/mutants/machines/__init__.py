"""Sound machines. Each compares a library with a model or its other end, and finds nothing in the newest release."""
