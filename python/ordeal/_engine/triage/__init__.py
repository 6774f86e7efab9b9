"""The treatment of failing runs: confirm, count, shrink, save, and check again in a fresh interpreter."""
