"""What is done with a failing run: confirm, count, shrink, save, and look again in a fresh interpreter."""
