"""What the interpreters that tests start begin with, as this folder is on their path."""
